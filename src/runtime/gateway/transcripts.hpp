#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "runtime/gateway/session.hpp"
#include "runtime/gateway/store.hpp"

namespace tare::gateway {

struct TranscriptLimits {
  std::size_t tail = 64;                 ///< messages of one session that are held in memory
  std::size_t bytes = 16 * 1024 * 1024;  ///< of all sessions; those not used for longest are let go first
};

/// The messages of sessions: all of them on disk, the latest of the sessions in use in memory.
class Transcripts {
 public:
  Transcripts(Store& store, TranscriptLimits limits) : store_(store), limits_(limits) {}

  /// The seq of the next message, which is then taken. Throws Error(input) when the disk can't be read.
  std::uint32_t take_seq(Session& session);
  /// A message that is on disk now.
  void add(Session& session, Message message);
  /// The last messages before `before`, the oldest first.
  std::vector<Message> page(Session& session, std::uint32_t before, Span span);
  std::size_t count(Session& session);
  /// The latest messages, from memory if they are there; they are from then on.
  std::vector<const Message*> latest(Session& session, Span span);
  void forget(Session& session);

  /// Of the messages in memory.
  std::size_t bytes() const { return bytes_; }

 private:
  void load(Session& session);
  void push(Session& session, Message message);
  void shrink(const Session& keep);

  Store& store_;
  TranscriptLimits limits_;
  std::list<Session*> loaded_;  ///< the latest used first
  std::size_t bytes_ = 0;
};

/// One message as `chat.history` and `session.message` have it.
void append_message(std::string& out, const SessionRecord& session, const Message& message);
std::string message_id(const SessionRecord& session, std::uint32_t seq);

}  // namespace tare::gateway
