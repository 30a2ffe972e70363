#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "runtime/provider/fault.hpp"

namespace tare::provider {

/// A call that a user's text asks the mock to make.
struct WantedCall {
  std::string name;
  std::string arguments;  ///< JSON text
  friend bool operator==(const WantedCall&, const WantedCall&) = default;
};

/// What a user's text tells the mock server to do.
struct Directives {
  std::optional<std::string> marker;  ///< [[marker:TEXT]]: what the reply begins with
  std::optional<unsigned> chunks;     ///< [[chunks:N]]
  std::optional<Nanoseconds> delay;   ///< [[delay:MS]], fractions allowed
  std::optional<Fault> fault;         ///< [[fault:SPEC]]
  std::vector<WantedCall> calls;      ///< [[tool:NAME {"argument":1}]], any number
  unsigned subagents = 0;             ///< [[subagents:N]]: so many calls of sessions_spawn
};

/// Of several of a kind the last one counts, but for calls. Anything else in double brackets is plain text.
/// Throws Error(input) for one with a bad value: the mock answers 400, so that a slip in a test is seen.
Directives parse_directives(std::string_view text);

constexpr unsigned max_chunks = 100'000;
constexpr unsigned max_subagents = 100;
constexpr double max_delay_ms = 600'000;

/// A delay in milliseconds, fractions allowed: "0", "1000", "0.25". Throws Error(input) that begins with
/// `what`.
Nanoseconds parse_delay(std::string_view text, std::string_view what);

}  // namespace tare::provider
