#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "net/http.hpp"
#include "net/websocket.hpp"

namespace tare::net {

struct ServerLimits {
  std::size_t header_bytes = 16 * 1024;
  std::size_t body_bytes = 1024 * 1024;  ///< more is answered 413 and the connection closed
  std::size_t connections = 20'000;      ///< one more is accepted and closed at once, and counted
  std::chrono::milliseconds header_time{10'000};  ///< from the first byte of a request to the end of its headers
  std::chrono::milliseconds idle_time{75'000};    ///< between two requests of a connection
};

/// One request and its answer. Lives as long as its handler runs; one answer, of one of three kinds.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const Request& request() const = 0;
  /// Address of the peer, "127.0.0.1".
  virtual std::string peer() const = 0;
  /// True when the request asks for a WebSocket.
  virtual bool asks_for_websocket() const = 0;

  /// A whole answer.
  virtual boost::asio::awaitable<void> respond(Response response) = 0;

  /// An answer in chunks: begin, any number of chunks (each is sent at once), end. A handler that returns
  /// before `end` has cut it: the connection is closed without the last chunk.
  virtual boost::asio::awaitable<void> begin(int status, Headers headers) = 0;
  virtual boost::asio::awaitable<void> chunk(std::string_view bytes) = 0;
  virtual boost::asio::awaitable<void> end() = 0;

  /// Closes the connection without an answer, or in the middle of one.
  virtual void cut() = 0;

  /// Answers 101; the connection is a WebSocket from then on.
  virtual boost::asio::awaitable<WebSocket> upgrade(WebSocketLimits limits) = 0;
};

/// Called for each request, one at a time on one connection. What it throws is answered 500, and logged by `log`.
using Handler = std::function<boost::asio::awaitable<void>(Exchange&)>;

/// HTTP/1.1 on one address and port, keep-alive, on the thread of its io_context.
class HttpServer {
 public:
  /// Listens at once. Port 0 takes a free one. Throws Error(unavailable) when the address is taken:
  /// "cannot listen on 127.0.0.1:8080 (Address already in use)".
  HttpServer(boost::asio::io_context& io, const std::string& address, std::uint16_t port, ServerLimits limits,
             Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  /// Open connections, WebSockets included.
  std::size_t connections() const;
  /// Connections closed because there were too many.
  std::uint64_t refused() const;
  /// Stops accepting and closes the connections between two requests; handlers run on to their end.
  void stop();
  /// Closes everything at once.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tare::net
