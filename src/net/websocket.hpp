#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "base/error.hpp"
#include "net/http.hpp"

namespace tare::net {

struct WebSocketLimits {
  std::size_t message_bytes = 25 * 1024 * 1024;  ///< a larger message closes the connection with 1009
  /// More unsent than this when another message comes: `send` drops the connection.
  std::size_t buffered_bytes = 50 * 1024 * 1024;
  /// A peer that was silent for so long is pinged; after two pings without a byte from it the connection is
  /// closed. Only while something reads. 0 for never.
  std::chrono::milliseconds ping_every{30'000};
  std::chrono::milliseconds close_time{2'000};  ///< until `close` no longer waits for the other's close frame
};

/// Close codes of RFC 6455, section 7.4.1, that Tare sends or names.
enum class CloseCode : std::uint16_t {  // others, 4000 for one, are cast from their number
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  unsupported = 1003,
  none = 1005,
  abnormal = 1006,
  bad_payload = 1007,
  policy = 1008,
  too_big = 1009,
  internal = 1011,
};

/// The connection ended: by a close frame of either side, or without one (abnormal).
class Closed : public Error {
 public:
  Closed(CloseCode close_code, std::string reason);
  CloseCode close_code() const { return close_code_; }
  const std::string& reason() const { return reason_; }

 private:
  CloseCode close_code_;
  std::string reason_;
};

/// One text message in two pieces, the first of which many connections may share.
struct Outgoing {
  Outgoing() = default;
  Outgoing(std::shared_ptr<const std::string> first, std::string second)
      : shared(std::move(first)), own(std::move(second)) {}
  std::shared_ptr<const std::string> shared;  ///< may be null
  std::string own;                            ///< written after it, in the same frame
};

enum class MessageKind { text, binary };

struct Message {
  MessageKind kind = MessageKind::text;
  std::string data;  ///< of a text message: valid UTF-8 (what is not is closed with 1007)
};

/// A WebSocket of either end (RFC 6455, no extensions). Pings are answered while it reads. Belongs to the
/// thread of its io_context; it is moved, not shared. Destroying it closes the connection without a close
/// frame, after a last try to send what is queued. It must not outlive its io_context.
class WebSocket {
 public:
  class Impl;
  explicit WebSocket(std::shared_ptr<Impl> impl);
  WebSocket(WebSocket&&) noexcept;
  WebSocket& operator=(WebSocket&&) noexcept;
  ~WebSocket();

  /// The next whole message. Throws Closed when there is none any more. One read at a time; cancelling it
  /// loses nothing.
  boost::asio::awaitable<Message> read();
  /// The next message if it is here already, without a suspension. Throws Closed like `read`.
  std::optional<Message> next();

  /// Messages may be so large from now on: a peer that has not said who it is gets less.
  void limit_messages(std::size_t bytes);

  /// Queues a message and returns at once; what is queued in one turn of the loop goes out in as few system
  /// calls as there can be. False when the connection is closed or was dropped for being too slow: the
  /// message is lost, as is the connection.
  bool send(const Outgoing& message);
  /// Bytes that are queued and not yet taken by the kernel.
  std::size_t buffered() const;
  /// True once `send` dropped the connection because its reader is too slow.
  bool too_slow() const;

  /// Sends what is queued and a close frame, and waits for the other's, `close_time` at most; messages that
  /// come meanwhile go to a `read` that waits, or nowhere. Throws nothing but a cancellation.
  boost::asio::awaitable<void> close(CloseCode code, std::string reason);

  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// Connects and upgrades. Throws Error(unavailable) when there is no connection, Error(failed) with the
/// status when the server answers anything but 101, Error(timeout) after `limit`.
boost::asio::awaitable<WebSocket> connect_websocket(boost::asio::io_context& io, Url url, Headers headers,
                                                    WebSocketLimits limits, std::chrono::milliseconds limit);

}  // namespace tare::net
