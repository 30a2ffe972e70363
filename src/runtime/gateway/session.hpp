#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/gateway/record.hpp"

namespace tare::gateway {

struct Run;

/// A session as it lives in memory.
struct Session {
  explicit Session(SessionRecord kept) : record(std::move(kept)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  SessionRecord record;

  /// Until its first write is on disk it is not listed; `removed` goes before the disk says so.
  enum class Stage : std::uint8_t { coming, kept, going };
  Stage stage = Stage::kept;

  std::shared_ptr<Run> active;
  std::deque<std::shared_ptr<Run>> waiting;
  std::optional<Outcome> last_outcome;
  bool waits_for_a_place = false;  ///< in the runner's line

  /// Its row of `sessions.list`; empty when it has to be written anew.
  std::string row;
  std::list<Session*>::iterator place;  ///< in the order of `sessions.list`

  /// Of its messages: the latest, while they are wanted; absent facts were not needed yet.
  std::optional<std::deque<Message>> tail;
  std::list<Session*>::iterator tail_place;
  std::size_t tail_bytes = 0;
  std::optional<std::uint32_t> last_seq;
  std::optional<std::size_t> count;
  std::uint32_t counted_to = 0;  ///< seq of the last message that `count` knew when it was read

  bool is_busy() const { return active != nullptr || !waiting.empty(); }
};

}  // namespace tare::gateway
