#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "net/http.hpp"
#include "runtime/provider/failure.hpp"

namespace tare::provider {

struct RetryPolicy {
  unsigned attempts = 3;                     ///< the first included; 0 counts as 1
  std::chrono::milliseconds base{500};       ///< doubled with every attempt
  std::chrono::milliseconds ceiling{8'000};  ///< of the doubling
  /// A server that asks for more is not waited for: its failure goes to the caller, with what it asked for.
  std::chrono::milliseconds patience{30'000};
};

/// How long to wait before the next attempt, or nothing when there is none. Only what failed before the first
/// byte of a reply may come here. `failed` counts the attempts that failed, this one included; `random` is in
/// [0, 1) and spreads the wait over the upper half of its span ("equal jitter"), so that clients that failed
/// together do not come back together. What the server asks for is never undercut.
std::optional<std::chrono::milliseconds> next_attempt(const RetryPolicy& policy, const Failure& failure,
                                                      unsigned failed, double random);

/// What `Retry-After` (seconds or a date, RFC 9110) or `retry-after-ms` asks for; nothing when there is
/// neither or it cannot be read. A date that has passed is 0.
std::optional<std::chrono::milliseconds> retry_after(const net::Headers& headers, WallTime now);

}  // namespace tare::provider
