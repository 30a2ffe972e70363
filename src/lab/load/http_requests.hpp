#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "lab/load/series.hpp"
#include "net/http.hpp"

namespace tare::load {

struct HttpLimits {
  std::size_t connections = 256;           ///< open at once
  std::size_t body_bytes = 1024 * 1024;    ///< a larger body is a failure
  std::chrono::milliseconds time{20'000};  ///< of a whole exchange, connecting included
};

/// How a request ended. `body` lives as long as the call that gives it.
struct HttpAnswer {
  Outcome outcome = Outcome::ok;
  int status = 0;  ///< 0 without an answer
  std::string_view body;
  std::string_view error;  ///< why there is no answer, or no whole one; ASCII
  Instant sent;
  Instant ended;
};

/// GET requests to one server over kept connections. A request costs a write, a read and little else, as
/// what the lab takes is taken from what it measures: no coroutine, no timer and no allocation of its own.
/// While it has connections its io_context does not run out of work. One thread, that of the io_context.
class HttpRequests {
 public:
  using Answered = std::function<void(const HttpAnswer& answer)>;

  /// Looks the host up. Throws Error(input) for a scheme that is not http, Error(unavailable) for a host that
  /// is not known.
  HttpRequests(boost::asio::io_context& io, const net::Url& server, HttpLimits limits = {});
  /// Closes all connections; what is open is not answered any more.
  ~HttpRequests();
  HttpRequests(const HttpRequests&) = delete;
  HttpRequests& operator=(const HttpRequests&) = delete;

  /// Starts one, on a kept connection where there is one; without an Accept header when `accept` is empty.
  /// `answered` is called once, never within this call. A kept connection that turns out to be closed before
  /// a byte of the answer came is replaced once. False, and nothing happens, when all connections are in use.
  bool get(std::string_view path, std::string_view accept, Answered answered);

  std::size_t open() const;         ///< requests that were not answered yet
  std::size_t connections() const;  ///< in use, and kept for the next request
  /// Gives up what is open, each with this outcome, and closes all connections.
  void close(Outcome outcome);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tare::load
