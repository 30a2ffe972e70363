#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "net/http.hpp"
#include "net/loop.hpp"

namespace tare::net {

struct ClientLimits {
  std::size_t body_bytes = 16 * 1024 * 1024;  ///< of `request`; a stream may be endless
  std::chrono::milliseconds connect_time{10'000};
  /// From the request's first byte to the response's headers, and between two reads of its body.
  std::chrono::milliseconds silence{20'000};
  std::size_t connections = 64;  ///< to one server; a request beyond them waits its turn
};

/// The body of a response as it arrives. Destroying it before the end closes the connection.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  virtual int status() const = 0;
  virtual const Headers& headers() const = 0;
  /// The next bytes; empty at the end. Throws Error(failed) when the connection breaks before the end,
  /// Error(timeout) after `silence`.
  virtual boost::asio::awaitable<std::string_view> read() = 0;
  /// The same, and Error(timeout) when nothing has come by this moment, if that is sooner. Costs less than a
  /// timer of the caller's.
  virtual boost::asio::awaitable<std::string_view> read_by(Loop::Moment moment) = 0;
};

/// HTTP/1.1 (and TLS, for https) to one server, over kept connections. A request whose kept connection turns
/// out to be closed before a byte of the answer came is sent once more on a fresh one. Redirects are not
/// followed. Coroutines are cancelled by asio's cancellation slots (`awaitable || timer` works); a cancelled
/// request closes its connection.
class HttpClient {
 public:
  HttpClient(boost::asio::io_context& io, Url server, ClientLimits limits);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Throws Error(unavailable) when there is no connection, Error(failed) for a broken one, Error(timeout).
  boost::asio::awaitable<Response> request(Request request);
  boost::asio::awaitable<std::unique_ptr<BodyStream>> stream(Request request);

  /// Connections that are open now, idle ones included.
  std::size_t connections() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tare::net
