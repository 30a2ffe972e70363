#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/steady_timer.hpp>

#include "net/frame.hpp"
#include "net/stream.hpp"
#include "net/websocket.hpp"

namespace tare::net {

/// Lives on, without its WebSocket, only while a coroutine of it does.
class WebSocket::Impl : public std::enable_shared_from_this<Impl> {
 public:
  /// Of a stream whose upgrade is done; what it has as input is frames already.
  Impl(std::shared_ptr<Stream> stream, Role role, WebSocketLimits limits);

  boost::asio::awaitable<Message> read();
  std::optional<Message> next();
  bool send(const Outgoing& message);
  boost::asio::awaitable<void> close(CloseCode code, std::string reason);
  void drop();
  void limit_messages(std::size_t bytes) { reader_.set_limit(bytes); }

  const Stream& stream() const { return *stream_; }
  bool too_slow() const { return too_slow_; }

 private:
  std::optional<Message> take(FrameReader::Result frame);
  bool write(Opcode opcode, std::string_view first, std::string_view second);
  void answer_close(CloseCode code, std::string_view reason);
  [[noreturn]] void end(CloseCode code, std::string reason);
  void tick();

  std::shared_ptr<Stream> stream_;
  Loop& loop_;
  Role role_;
  WebSocketLimits limits_;
  FrameReader reader_;
  std::optional<Closed> ended_;
  std::unique_ptr<boost::asio::steady_timer>
      closing_;                   ///< cancelled when the other side's close frame is here
  std::uint64_t seen_bytes_ = 0;  ///< that had come at the last tick
  int unanswered_ = 0;
  bool reading_ = false;
  bool close_sent_ = false;
  bool too_slow_ = false;
};

}  // namespace tare::net
