#include "runtime/gateway/frame.hpp"

#include <utility>

#include <fmt/format.h>

#include "runtime/gateway/json_text.hpp"

namespace tare::gateway {
namespace {

/// It is kept as long as its request waits for an answer.
constexpr std::size_t most_id_bytes = 1024;

const boost::json::string* text_member(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  const boost::json::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr || text->empty() ? nullptr : text;
}

json::Value parse(std::string_view text) {
  try {
    return json::parse(text, "frame");
  } catch (const Error&) {
    throw NotJson();
  }
}

}  // namespace

std::string_view name_of(Code code) {
  switch (code) {
    case Code::invalid_request:
      return "INVALID_REQUEST";
    case Code::forbidden:
      return "FORBIDDEN";
    case Code::not_paired:
      return "NOT_PAIRED";
    case Code::not_linked:
      return "NOT_LINKED";
    case Code::unavailable:
      return "UNAVAILABLE";
    case Code::agent_timeout:
      return "AGENT_TIMEOUT";
    case Code::approval_not_found:
      return "APPROVAL_NOT_FOUND";
  }
  return "UNAVAILABLE";
}

RequestFrame parse_request(std::string_view text) {
  json::Value value = parse(text);
  const auto fail = [](std::string_view why) -> Refusal {
    return {Code::invalid_request, "invalid request frame: " + std::string(why)};
  };
  json::Object* object = value.if_object();
  if (object == nullptr) throw fail("at root: must be object");
  const boost::json::string* type = text_member(*object, "type");
  if (type == nullptr || *type != "req") throw fail("at /type: must be equal to constant 'req'");
  const boost::json::string* id = text_member(*object, "id");
  if (id == nullptr) throw fail("at /id: must be a non-empty string");
  if (id->size() > most_id_bytes)
    throw fail(fmt::format("at /id: must not be longer than {} bytes", most_id_bytes));
  const boost::json::string* method = text_member(*object, "method");
  if (method == nullptr) throw fail("at /method: must be a non-empty string");
  RequestFrame frame{std::string(*id), std::string(*method), json::Object{}};
  for (auto& entry : *object) {
    const std::string_view key(entry.key());
    if (key == "params") {
      frame.params = std::move(entry.value());
    } else if (key != "type" && key != "id" && key != "method") {
      throw fail("at root: unexpected property '" + std::string(key) + "'");
    }
  }
  return frame;
}

std::string id_of(std::string_view text) {
  try {
    const json::Value value = parse(text);
    const boost::json::string* id = value.is_object() ? text_member(value.get_object(), "id") : nullptr;
    if (id != nullptr && id->size() <= most_id_bytes) return std::string(*id);
  } catch (const NotJson&) {
  }
  return "invalid";
}

std::string response_text(std::string_view id, std::string_view payload) {
  std::string out;
  out.reserve(payload.size() + id.size() + 48);
  ObjectText(out).text("type", "res").text("id", id).boolean("ok", true).json("payload", payload).close();
  return out;
}

std::string error_text(const Fault& fault) {
  std::string out;
  ObjectText error(out);
  constexpr std::size_t most = 2000;  // it may quote what was asked, however long that is
  error.text("code", name_of(fault.code)).text("message", beginning_of(fault.message, most));
  if (!fault.details.empty()) error.json("details", fault.details);
  if (fault.retry == Retry::later) error.boolean("retryable", true);
  if (fault.retry_after) error.number("retryAfterMs", fault.retry_after->count());
  error.close();
  return out;
}

std::string response_text(std::string_view id, const Fault& fault) {
  std::string out;
  ObjectText(out)
      .text("type", "res")
      .text("id", id)
      .boolean("ok", false)
      .json("error", error_text(fault))
      .close();
  return out;
}

std::shared_ptr<const std::string> event_text(std::string_view name, std::string_view payload) {
  auto text = std::make_shared<std::string>();
  text->reserve(payload.size() + name.size() + 48);
  *text += R"({"type":"event","event":")";
  *text += name;
  *text += R"(","payload":)";
  *text += payload;
  return text;
}

std::string event_end(std::uint64_t seq) {
  std::string end = R"(,"seq":)";
  append_number(end, static_cast<std::int64_t>(seq));
  end += '}';
  return end;
}

}  // namespace tare::gateway
