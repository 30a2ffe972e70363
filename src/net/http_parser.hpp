#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "net/http.hpp"

namespace tare::net {

/// The longest headers that fit the input of a stream, in bytes.
constexpr std::size_t most_header_bytes = 32 * 1024;

/// A message that is not HTTP/1.x, or is beyond a limit.
class HttpProblem : public Error {
 public:
  HttpProblem(int status, const std::string& why)
      : Error(ErrorCode::failed, "bad HTTP", why), status_(status) {}
  /// What a server answers to it: 400, 413, 431 or 505.
  int status() const { return status_; }

 private:
  int status_;
};

/// Parses one message from bytes that are split anywhere.
class HttpParser {
 public:
  enum class Kind { request, response, response_to_head };
  struct Limits {
    std::size_t header_bytes;
    std::size_t body_bytes;
  };
  HttpParser(Kind kind, Limits limits);
  ~HttpParser();

  /// Returns how many of the bytes it used; the others are to come again, with more behind them. It stops at
  /// the end of the headers and at the end of the message. Throws HttpProblem.
  std::size_t feed(std::string_view bytes);
  /// The peer has ended: a body without a length is complete then. Throws HttpProblem for any other.
  void feed_end();

  bool header_done() const;
  bool done() const;
  /// Once the headers are there: another message may follow on this connection.
  bool keep_alive() const;
  bool is_http11() const;

  std::string method;
  std::string target;
  int status = 0;
  Headers headers;
  std::string body;  ///< what came of it since it was last taken away

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tare::net
