#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "net/http_server.hpp"
#include "net/stream.hpp"

namespace tare::net {

/// One request that a server has read, and the answer that its handler writes.
class ServerExchange final : public Exchange {
 public:
  struct Wishes {
    bool keep_alive;
    bool http11;
  };
  ServerExchange(std::shared_ptr<Stream> stream, Request request, Wishes wishes,
                 std::chrono::milliseconds stall);

  const Request& request() const override { return request_; }
  std::string peer() const override { return stream_->peer(); }
  bool asks_for_websocket() const override;
  boost::asio::awaitable<void> respond(Response response) override;
  boost::asio::awaitable<void> begin(int status, Headers headers) override;
  boost::asio::awaitable<void> chunk(std::string_view bytes) override;
  boost::asio::awaitable<void> end() override;
  void cut() override;
  boost::asio::awaitable<WebSocket> upgrade(WebSocketLimits limits) override;

  enum class State { unanswered, begun, answered, cut, upgraded };
  State state() const { return state_; }
  /// From now on the connection ends with its answer.
  void no_more() { wishes_.keep_alive = false; }
  bool keeps_alive() const { return state_ == State::answered && wishes_.keep_alive && stream_->writable(); }

 private:
  void expect(State state) const;
  void write_head(int status, const Headers& headers, std::string_view framing);
  boost::asio::awaitable<void> refuse_upgrade(int status, std::string why);

  std::shared_ptr<Stream> stream_;
  Request request_;
  Wishes wishes_;
  std::chrono::milliseconds stall_;
  State state_ = State::unanswered;
};

/// Writes a short answer after which the connection is closed: what was wrong with the request.
void write_refusal(Stream& stream, int status, std::string_view why);

}  // namespace tare::net
