#include "runtime/provider/reply_plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.hpp"

namespace tare::provider {
namespace {

constexpr std::string_view spawn_tool = "sessions_spawn";
constexpr std::string_view subagent_mark = "[Subagent Task]";

struct SpawnArguments {
  std::string task;
  std::string label;
};
BOOST_DESCRIBE_STRUCT(SpawnArguments, (), (task, label))

/// Each child has a marker of its own, so that its reply can be told from the others'.
WantedCall spawn_call(const Directives& directives, unsigned child) {
  const std::string marker = fmt::format("{}.{}", directives.marker.value_or("child"), child);
  return {std::string(spawn_tool),
          json::line(SpawnArguments{fmt::format("Reply with [[marker:{}]]", marker), marker})};
}

std::vector<ToolCall> calls_of(const MockRequest& request, const Directives& directives, std::uint64_t seq) {
  if (request.after_tools || request.user_text.find(subagent_mark) != std::string::npos) return {};
  std::vector<WantedCall> wanted = directives.calls;
  for (unsigned child = 1; child <= directives.subagents; ++child)
    wanted.push_back(spawn_call(directives, child));
  std::vector<ToolCall> calls;
  for (WantedCall& call : wanted) {
    // A recap quotes the user's text, but offers no tools.
    if (std::ranges::find(request.tools, call.name) == request.tools.end()) continue;
    calls.push_back(
        {fmt::format("call_{}_{}", seq, calls.size() + 1), std::move(call.name), std::move(call.arguments)});
  }
  return calls;
}

}  // namespace

std::string chunk_text(std::string_view base, unsigned index) {
  return index == 0 ? std::string(base) : fmt::format(" {}", index + 1);
}

ReplyPlan plan_reply(const MockRequest& request, const Directives& directives, const MockDefaults& defaults,
                     std::uint64_t seq, WallTime now) {
  ReplyPlan plan{.seq = seq,
                 .model = request.model,
                 .created = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count(),
                 .calls = calls_of(request, directives, seq),
                 .delay = directives.delay.value_or(defaults.delay)};
  if (plan.calls.empty()) {
    const std::string& base = directives.marker ? *directives.marker : defaults.text;
    const unsigned count = directives.chunks.value_or(defaults.chunks);
    plan.chunks.reserve(count);
    for (unsigned i = 0; i < count; ++i) plan.chunks.push_back(chunk_text(base, i));
  } else {
    plan.chunks.push_back(fmt::format("Calling {}.", plan.calls.front().name));
  }
  const std::uint64_t input = (request.bytes + 3) / 4;
  const std::uint64_t output = plan.chunks.size() + plan.calls.size();
  plan.usage = {input, output, input + output, 0};
  return plan;
}

}  // namespace tare::provider
