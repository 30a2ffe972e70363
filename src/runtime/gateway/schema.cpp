#include "runtime/gateway/schema.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/gateway/frame.hpp"

namespace tare::gateway {
namespace {

bool is_whole(const json::Value& value) {
  return (value.is_int64() && value.get_int64() >= 0) ||
         (value.is_uint64() && value.get_uint64() <= static_cast<std::uint64_t>(INT64_MAX));
}

bool fits(const json::Value& value, Kind kind) {
  switch (kind) {
    case Kind::text:
      return value.is_string();
    case Kind::name:
      return value.is_string() && !value.get_string().empty();
    case Kind::text_or_null:
      return value.is_string() || value.is_null();
    case Kind::whole:
      return is_whole(value);
    case Kind::boolean:
      return value.is_bool();
    case Kind::boolean_or_text:
      return value.is_bool() || value.is_string();
    case Kind::object:
      return value.is_object();
    case Kind::list:
      return value.is_array();
    case Kind::texts:
      return value.is_array() &&
             std::ranges::all_of(value.get_array(), [](const json::Value& item) { return item.is_string(); });
  }
  return false;
}

std::string_view wanted(Kind kind) {
  switch (kind) {
    case Kind::text:
      return "must be string";
    case Kind::name:
      return "must be a non-empty string";
    case Kind::text_or_null:
      return "must be string or null";
    case Kind::whole:
      return "must be a whole number, 0 or more";
    case Kind::boolean:
      return "must be boolean";
    case Kind::boolean_or_text:
      return "must be boolean or string";
    case Kind::object:
      return "must be object";
    case Kind::list:
      return "must be array";
    case Kind::texts:
      return "must be an array of strings";
  }
  return "is wrong";
}

}  // namespace

void check(std::string_view what, std::string_view place, const json::Value& value, Schema schema) {
  const auto fail = [&](std::string_view where, std::string_view why) -> Refusal {
    return {Code::invalid_request, fmt::format("{}: at {}: {}", what, where, why)};
  };
  const json::Object* object = value.if_object();
  if (object == nullptr) throw fail(place, "must be object");
  for (const auto& entry : *object) {
    const std::string_view key(entry.key());
    const auto field = std::ranges::find(schema, key, &Field::name);
    if (field == schema.end()) throw fail(place, fmt::format("unexpected property '{}'", key));
    if (!fits(entry.value(), field->kind))
      throw fail(fmt::format("{}/{}", place == "root" ? "" : place, key), wanted(field->kind));
  }
  for (const Field& field : schema) {
    if (field.need == Need::required && !object->contains(field.name))
      throw fail(place, fmt::format("must have required property '{}'", field.name));
  }
}

const json::Value* member_of(const json::Value& object, std::string_view key) {
  const json::Object* members = object.if_object();
  const json::Value* value = members == nullptr ? nullptr : members->if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::optional<std::string_view> text_of(const json::Value& object, std::string_view key) {
  const json::Value* value = member_of(object, key);
  const boost::json::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::nullopt : std::optional<std::string_view>(*text);
}

std::optional<std::int64_t> whole_of(const json::Value& object, std::string_view key) {
  const json::Value* value = member_of(object, key);
  if (value == nullptr || !is_whole(*value)) return std::nullopt;
  return value->to_number<std::int64_t>();
}

std::optional<bool> boolean_of(const json::Value& object, std::string_view key) {
  const json::Value* value = member_of(object, key);
  return value == nullptr || !value->is_bool() ? std::nullopt : std::optional(value->get_bool());
}

}  // namespace tare::gateway
