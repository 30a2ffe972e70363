#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <boost/describe.hpp>

#include "base/error.hpp"

namespace tare::provider {

enum class FailureKind : std::uint8_t {
  unreachable,   ///< no connection: refused, no such host
  rate_limited,  ///< 429
  overloaded,    ///< 5xx
  unauthorized,  ///< 401, 403
  rejected,      ///< any other status that is not 200: the request is wrong for this server
  timeout,       ///< the first byte, the next byte or the whole reply took too long
  cut,           ///< the stream ended before the reply was whole
  garbage,       ///< what came is not the dialect: not JSON, bad UTF-8, another content type
  reported,      ///< the server reported an error in the middle of its reply
  too_large,     ///< the reply passed the limit
};
BOOST_DESCRIBE_ENUM(FailureKind, unreachable, rate_limited, overloaded, unauthorized, rejected, timeout, cut,
                    garbage, reported, too_large)

/// Whether the same request may well succeed later: nothing is wrong with the request itself.
bool is_retryable(FailureKind kind);

/// A reply that failed. Its message names the server, never the key.
class Failure : public Error {
 public:
  Failure(FailureKind kind, const std::string& what, const std::string& why = {},
          const std::string& hint = {});

  FailureKind kind() const { return kind_; }
  bool retryable() const { return is_retryable(kind_); }
  /// The HTTP status, if there was an answer.
  std::optional<int> status() const { return status_; }
  /// How long the server asks to wait, if it says so.
  std::optional<std::chrono::milliseconds> retry_after() const { return retry_after_; }

  Failure with_status(int status) &&;
  Failure with_retry_after(std::optional<std::chrono::milliseconds> wait) &&;

 private:
  FailureKind kind_;
  std::optional<int> status_;
  std::optional<std::chrono::milliseconds> retry_after_;
};

}  // namespace tare::provider
