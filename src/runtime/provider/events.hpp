#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/provider/conversation.hpp"

namespace tare::provider {

/// The next piece of the reply's text; never empty.
struct TextDelta {
  std::string text;
  friend bool operator==(const TextDelta&, const TextDelta&) = default;
};

/// Tokens as the server counts them; what it does not tell is absent.
struct Usage {
  std::optional<std::uint64_t> input_tokens;
  std::optional<std::uint64_t> output_tokens;
  std::optional<std::uint64_t> total_tokens;
  std::optional<std::uint64_t> cached_tokens;  ///< part of the input tokens
  friend bool operator==(const Usage&, const Usage&) = default;
};

enum class StopReason : std::uint8_t {
  stop,        ///< the model had said all
  tool_calls,  ///< it waits for the results of its calls
  length,      ///< it ran into a limit of tokens
  filtered,    ///< the server's filter took the rest
};

/// The reply is whole. The last event of every reply that did not fail.
struct Done {
  StopReason reason = StopReason::stop;
  friend bool operator==(const Done&, const Done&) = default;
};

/// Text and calls in the order of the stream (a call when its arguments are complete), usage if the server
/// tells it, then Done.
using Event = std::variant<TextDelta, ToolCall, Usage, Done>;
using Events = std::vector<Event>;

}  // namespace tare::provider
