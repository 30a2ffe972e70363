#include "lab/bench/gateway/script.hpp"

#include <fmt/format.h>

namespace tare::gateway_bench {

Line Script::line(std::uint64_t session, std::uint64_t turn, Phase phase) const {
  Line line;
  line.marker =
      fmt::format("{}-{:x}-{}-{}", phase == Phase::warm ? "warm" : "load", nonce_, session + 1, turn + 1);
  line.message = fmt::format("Reply with benchmark stream {}. [[marker:{}]]", session + 1, line.marker);
  if (phase == Phase::warm) {
    line.message += " [[delay:0]]";
  } else {
    if (options_.tool_events) line.message += fmt::format(R"( [[tool:{} {{"command":"true"}}]])", tool_name);
    if (options_.subagents > 0) line.message += fmt::format(" [[subagents:{}]]", options_.subagents);
  }
  line.reply = line.marker;
  for (std::size_t chunk = 2; chunk <= reply_chunks; ++chunk) line.reply += fmt::format(" {}", chunk);
  return line;
}

}  // namespace tare::gateway_bench
