#pragma once

#include <memory>

#include <boost/asio/awaitable.hpp>

#include "runtime/provider/conversation.hpp"
#include "runtime/provider/events.hpp"
#include "runtime/provider/failure.hpp"

namespace tare::provider {

/// One reply as it arrives. Destroying it early closes its connection. Must not outlive its provider's
/// io_context.
class ReplyStream {
 public:
  ReplyStream() = default;
  ReplyStream(const ReplyStream&) = delete;
  ReplyStream& operator=(const ReplyStream&) = delete;
  virtual ~ReplyStream() = default;

  /// All events that one read from the server brought, at least one; none when the reply is over. Done is the
  /// last event of a whole reply; call once more behind it, so that the connection can be used again. Throws
  /// Failure.
  virtual boost::asio::awaitable<Events> next() = 0;
};

/// A model server. On one thread, that of its io_context; any number of replies at once. Coroutines are
/// cancelled by asio's cancellation slots (`awaitable || timer` works).
class Provider {
 public:
  Provider() = default;
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;
  virtual ~Provider() = default;

  /// Asks, and returns when the first events are there. Throws Failure. The request is only read before the
  /// first suspension.
  virtual boost::asio::awaitable<std::unique_ptr<ReplyStream>> open(const ModelRequest& request) = 0;
};

}  // namespace tare::provider
