#include "runtime/provider/mock_request.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "runtime/provider/dig.hpp"

namespace tare::provider {
namespace {

constexpr std::string_view internal_context = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>";

/// The text of a message whose content is a string or a list of parts.
std::string content_text(const json::Object* message) {
  if (const auto text = text_in(message, "content")) return std::string(*text);
  std::string all;
  if (const json::Array* parts = array_in(message, "content")) {
    for (const json::Value& part : *parts) {
      if (const auto text = text_in(part.if_object(), "text")) all += *text;
    }
  }
  return all;
}

void read_item(const json::Object* item, MockRequest& request) {
  const auto role = text_in(item, "role");
  if (role == "tool" || text_in(item, "type") == "function_call_output") {
    request.after_tools = true;
  } else if (role == "user") {
    std::string text = content_text(item);
    if (text.starts_with(internal_context)) return;
    request.user_text = std::move(text);
    request.after_tools = false;
  }
}

void read_items(const json::Object* body, MockRequest& request) {
  const std::string_view key = request.dialect == Dialect::responses ? "input" : "messages";
  if (const auto text = text_in(body, key)) {
    request.user_text = *text;
  } else if (const json::Array* items = array_in(body, key)) {
    for (const json::Value& item : *items) read_item(item.if_object(), request);
  } else {
    throw Error(ErrorCode::input, std::string(key) + " is missing");
  }
}

void read_tools(const json::Object* body, MockRequest& request) {
  const json::Array* tools = array_in(body, "tools");
  if (tools == nullptr) return;
  for (const json::Value& value : *tools) {
    const json::Object* tool = value.if_object();
    const json::Object* function = object_in(tool, "function");
    if (const auto name = text_in(function == nullptr ? tool : function, "name"))
      request.tools.emplace_back(*name);
  }
}

}  // namespace

MockRequest read_mock_request(Dialect dialect, std::string_view body) {
  const json::Value value = json::parse(body, "the body");
  const json::Object* object = value.if_object();
  if (object == nullptr) throw Error(ErrorCode::input, "the body is not a JSON object");
  MockRequest request{.dialect = dialect, .bytes = body.size()};
  const auto model = text_in(object, "model");
  if (!model) throw Error(ErrorCode::input, "model is missing");
  request.model = *model;
  if (const json::Value* stream = member(object, "stream"); stream != nullptr && stream->is_bool())
    request.delivery = stream->get_bool() ? Delivery::stream : Delivery::whole;
  for (const std::string_view key : {"max_output_tokens", "max_completion_tokens", "max_tokens"}) {
    if (!request.max_output_tokens) request.max_output_tokens = count_in(object, key);
  }
  read_items(object, request);
  read_tools(object, request);
  return request;
}

}  // namespace tare::provider
