#include "runtime/provider/render.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "net/sse.hpp"
#include "runtime/provider/render_chat.hpp"
#include "runtime/provider/render_responses.hpp"

namespace tare::provider {

std::string json_text(std::string_view text) {
  std::string out;
  json::Writer(out, json::Writer::Style::compact).string(text);
  return out;
}

std::string Renderer::delta(std::string_view text, std::optional<Instant> sent) {
  text_ += text;
  if (!sent) return render_delta(text, "");
  return render_delta(text, fmt::format(R"(,"sentNs":{})", sent->time_since_epoch().count()));
}

std::unique_ptr<Renderer> renderer(Dialect dialect, const ReplyPlan& plan) {
  if (dialect == Dialect::responses) return std::make_unique<ResponsesRenderer>(plan);
  return std::make_unique<ChatRenderer>(plan);
}

std::string error_body(std::string_view message, std::string_view type) {
  return fmt::format(R"({{"error":{{"message":{},"type":{},"param":null,"code":null}}}})", json_text(message),
                     json_text(type));
}

std::string error_event(Dialect dialect, std::string_view message) {
  if (dialect == Dialect::chat) return net::sse_data(error_body(message, "server_error"));
  return net::sse_data(fmt::format(
      R"({{"type":"response.failed","response":{{"status":"failed","error":{{"code":"server_error","message":{}}}}}}})",
      json_text(message)));
}

}  // namespace tare::provider
