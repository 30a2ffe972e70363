#include "runtime/provider/render_chat.hpp"

#include <fmt/format.h>

#include "net/sse.hpp"

namespace tare::provider {
namespace {

std::string call_with(const ToolCall& call, std::string_view arguments) {
  return fmt::format(R"("id":{},"type":"function","function":{{"name":{},"arguments":{}}})",
                     json_text(call.id), json_text(call.name), json_text(arguments));
}

}  // namespace

std::string ChatRenderer::head(std::string_view object) const {
  return fmt::format(R"({{"id":"chatcmpl-{}","object":"{}","created":{},"model":{})", plan().seq, object,
                     plan().created, json_text(plan().model));
}

std::string ChatRenderer::chunk(std::string_view delta, std::string_view finish_reason,
                                std::string_view stamp) const {
  return net::sse_data(fmt::format(R"({},"choices":[{{"index":0,"delta":{{{}}},"finish_reason":{}}}]{}}})",
                                   head("chat.completion.chunk"), delta, finish_reason, stamp));
}

std::string ChatRenderer::usage() const {
  const Usage& usage = plan().usage;
  return fmt::format(R"("usage":{{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{}}})",
                     usage.input_tokens.value_or(0), usage.output_tokens.value_or(0),
                     usage.total_tokens.value_or(0));
}

std::string_view ChatRenderer::finish_reason() const {
  return plan().calls.empty() ? R"("stop")" : R"("tool_calls")";
}

std::string ChatRenderer::begin() {
  return chunk(R"("role":"assistant","content":"")", "null", "");
}

std::string ChatRenderer::render_delta(std::string_view text, std::string_view stamp) {
  return chunk(fmt::format(R"("content":{})", json_text(text)), "null", stamp);
}

std::string ChatRenderer::end() {
  std::string out;
  for (std::size_t i = 0; i < plan().calls.size(); ++i) {
    const ToolCall& call = plan().calls[i];
    out += chunk(fmt::format(R"("tool_calls":[{{"index":{},{}}}])", i, call_with(call, "")), "null", "");
    out += chunk(fmt::format(R"("tool_calls":[{{"index":{},"function":{{"arguments":{}}}}}])", i,
                             json_text(call.arguments)),
                 "null", "");
  }
  out += chunk("", finish_reason(), "");
  out += net::sse_data(fmt::format(R"({},"choices":[],{}}})", head("chat.completion.chunk"), usage()));
  out += net::sse_data("[DONE]");
  return out;
}

std::string ChatRenderer::whole() {
  std::string calls;
  for (const ToolCall& call : plan().calls) {
    calls +=
        fmt::format("{}{{{}}}", calls.empty() ? R"(,"tool_calls":[)" : ",", call_with(call, call.arguments));
  }
  if (!calls.empty()) calls += "]";
  return fmt::format(
      R"({},"choices":[{{"index":0,"message":{{"role":"assistant","content":{}{}}},"finish_reason":{}}}],{}}})",
      head("chat.completion"), json_text(fmt::format("{}", fmt::join(plan().chunks, ""))), calls,
      finish_reason(), usage());
}

}  // namespace tare::provider
