#pragma once

#include <cstdint>
#include <string>

#include "lab/bench/gateway/options.hpp"

namespace tare::gateway_bench {

/// Whether a turn is part of the load or comes before it.
enum class Phase : std::uint8_t { warm, load };

/// One turn: what is said, and what must come back.
struct Line {
  std::string marker;   ///< one of a kind; also the idempotency key
  std::string message;  ///< for the model, with the directives of the mock model server
  std::string reply;    ///< byte for byte, where the mock answers
};

/// What the sessions of a run say.
class Script {
 public:
  /// `nonce` tells this run from all others.
  Script(const Options& options, std::uint64_t nonce) : options_(options), nonce_(nonce) {}
  /// Turns are counted from 0 within their phase. Warm turns are answered without delays, call no tools and
  /// start no subagents.
  Line line(std::uint64_t session, std::uint64_t turn, Phase phase) const;

 private:
  const Options& options_;
  std::uint64_t nonce_;
};

/// The tool that `--tool-events` has each turn call.
inline constexpr const char* tool_name = "exec";

}  // namespace tare::gateway_bench
