#include "runtime/provider/render_responses.hpp"

#include <fmt/format.h>

#include "net/sse.hpp"

namespace tare::provider {
namespace {

std::string item_event(std::string_view word, std::size_t index, std::string_view item) {
  return net::sse_data(
      fmt::format(R"({{"type":"response.output_item.{}","output_index":{},"item":{}}})", word, index, item));
}

std::string call_item(const ToolCall& call, std::string_view status, std::string_view arguments) {
  return fmt::format(
      R"({{"type":"function_call","id":"fc_{}","call_id":{},"name":{},"arguments":{},"status":"{}"}})",
      call.id, json_text(call.id), json_text(call.name), json_text(arguments), status);
}

std::string call_events(const ToolCall& call, std::size_t index) {
  return item_event("added", index, call_item(call, "in_progress", "")) +
         net::sse_data(fmt::format(
             R"({{"type":"response.function_call_arguments.delta","item_id":"fc_{}","output_index":{},"delta":{}}})",
             call.id, index, json_text(call.arguments))) +
         item_event("done", index, call_item(call, "completed", call.arguments));
}

}  // namespace

std::string ResponsesRenderer::message(std::string_view status, std::string_view content) const {
  return fmt::format(
      R"({{"type":"message","id":"msg_{}","role":"assistant"{},"status":"{}","content":[{}]}})", plan().seq,
      plan().calls.empty() ? "" : R"(,"phase":"commentary")", status, content);
}

std::string ResponsesRenderer::finished_message(std::string_view text) const {
  return message("completed",
                 fmt::format(R"({{"type":"output_text","text":{},"annotations":[]}})", json_text(text)));
}

std::string ResponsesRenderer::response(std::string_view text) const {
  std::string output = finished_message(text);
  for (const ToolCall& call : plan().calls) output += "," + call_item(call, "completed", call.arguments);
  const Usage& usage = plan().usage;
  return fmt::format(
      R"({{"id":"resp_{}","object":"response","created_at":{},"status":"completed","model":{},"output":[{}],)"
      R"("usage":{{"input_tokens":{},"input_tokens_details":{{"cached_tokens":{}}},"output_tokens":{},)"
      R"("output_tokens_details":{{"reasoning_tokens":0}},"total_tokens":{}}}}})",
      plan().seq, plan().created, json_text(plan().model), output, usage.input_tokens.value_or(0),
      usage.cached_tokens.value_or(0), usage.output_tokens.value_or(0), usage.total_tokens.value_or(0));
}

std::string ResponsesRenderer::begin() {
  return item_event("added", 0, message("in_progress", ""));
}

std::string ResponsesRenderer::render_delta(std::string_view text, std::string_view stamp) {
  return net::sse_data(fmt::format(
      R"({{"type":"response.output_text.delta","item_id":"msg_{}","output_index":0,"content_index":0,"delta":{}{}}})",
      plan().seq, json_text(text), stamp));
}

std::string ResponsesRenderer::end() {
  std::string out = net::sse_data(fmt::format(
      R"({{"type":"response.output_text.done","item_id":"msg_{}","output_index":0,"content_index":0,"text":{}}})",
      plan().seq, json_text(text())));
  out += item_event("done", 0, finished_message(text()));
  for (std::size_t i = 0; i < plan().calls.size(); ++i) out += call_events(plan().calls[i], i + 1);
  out += net::sse_data(fmt::format(R"({{"type":"response.completed","response":{}}})", response(text())));
  out += net::sse_data("[DONE]");
  return out;
}

std::string ResponsesRenderer::whole() {
  return response(fmt::format("{}", fmt::join(plan().chunks, "")));
}

}  // namespace tare::provider
