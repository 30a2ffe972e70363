#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/gateway/client.hpp"

namespace tare::lab_gateway {

/// A request that was sent, and what to do with its answer.
struct OpenRequest {
  std::uint64_t id = 0;  ///< 0 in a slot that is free
  Client::Answers answers = Client::Answers::one;
  std::string method;
  Instant sent;
  Instant until;
  Client::Answered answered;  ///< empty while it is called
  /// How it was answered without the gateway. It stays until the gateway's own answer comes, which is late
  /// then, and not one that nobody asked for.
  std::optional<load::Outcome> given_up;
  std::string error;  ///< of `given_up`
};

/// The requests of a connection in slots, so that the one that a response is for is found by its id alone.
class OpenRequests {
 public:
  /// The request has an id, and all else is for the caller to set. Adding another one moves it.
  OpenRequest& add();
  /// Null when there is none of this id.
  OpenRequest* find(std::uint64_t id);
  OpenRequest* find(std::string_view id);
  /// Frees its slot.
  void remove(OpenRequest& request);
  void clear() { slots_.clear(), free_.clear(), waiting_ = 0; }

  /// One more, or one less, waits for its answer: it was sent, answered to the end, or given up.
  void count(int change) { waiting_ += static_cast<std::size_t>(change); }
  std::size_t waiting() const { return waiting_; }

  /// The ids of those that wait and whose time is over at this moment.
  std::vector<std::uint64_t> due(Instant now) const;
  /// When the next of those that wait is due; Instant::max() for never.
  Instant next_due() const;

 private:
  static constexpr unsigned slot_bits = 24;

  std::vector<OpenRequest> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t serial_ = 0;  ///< makes the ids of one slot differ
  std::size_t waiting_ = 0;
};

}  // namespace tare::lab_gateway
