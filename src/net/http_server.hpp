#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "net/http.hpp"
#include "net/websocket.hpp"

namespace tare::net {

struct ServerLimits {
  std::size_t header_bytes = 16 * 1024;  ///< more is answered 431 and the connection closed; 32 KB at most
  std::size_t body_bytes = 1024 * 1024;  ///< more is answered 413 and the connection closed
  std::size_t connections = 20'000;      ///< one more is accepted and closed at once, and counted
  /// From the first byte of a request to the end of its headers, and between two reads of its body, which has
  /// six times that in all.
  std::chrono::milliseconds header_time{10'000};
  /// Between two requests of a connection, and while a peer takes nothing of an answer.
  std::chrono::milliseconds idle_time{75'000};
};

/// One request and its answer. Lives as long as its handler runs; one answer, of one of three kinds.
/// What writes an answer throws Error(failed) once the peer is gone.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const Request& request() const = 0;
  /// Address of the peer, "127.0.0.1".
  virtual std::string peer() const = 0;
  /// True when the request asks for a WebSocket.
  virtual bool asks_for_websocket() const = 0;

  /// A whole answer. To a HEAD, its body is not sent.
  virtual boost::asio::awaitable<void> respond(Response response) = 0;

  /// An answer in chunks: begin, any number of chunks (sent at the end of the loop's turn), end. A handler
  /// that returns before `end` has cut it: the connection is closed without the last chunk. `chunk` waits
  /// while the peer is behind by more than 64 KB.
  virtual boost::asio::awaitable<void> begin(int status, Headers headers) = 0;
  virtual boost::asio::awaitable<void> chunk(std::string_view bytes) = 0;
  virtual boost::asio::awaitable<void> end() = 0;

  /// Closes the connection without an answer, or in the middle of one; what was written before is sent.
  virtual void cut() = 0;

  /// Answers 101; the connection is a WebSocket from then on, which may outlive the handler. Throws
  /// Error(failed), and has answered 400 or 426, when the request is no valid one for a WebSocket.
  virtual boost::asio::awaitable<WebSocket> upgrade(WebSocketLimits limits) = 0;
};

/// Called for each request, one at a time on one connection. What it throws, and no answer, is answered 500.
/// Where the server is destroyed first, handlers that are running go on, with their connections closed.
using Handler = std::function<boost::asio::awaitable<void>(Exchange&)>;

/// HTTP/1.1 on one address and port, keep-alive, on the thread of its io_context, which must outlive it.
class HttpServer {
 public:
  /// Listens at once. Port 0 takes a free one. Throws Error(unavailable) when the address is taken:
  /// "cannot listen on 127.0.0.1:8080 (Address already in use)".
  HttpServer(boost::asio::io_context& io, const std::string& address, std::uint16_t port, ServerLimits limits,
             Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Is called with the line of what a handler threw, unless its peer was gone by then; for a log.
  void on_error(std::function<void(const std::string&)> report);

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
