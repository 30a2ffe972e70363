#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json.hpp"

/// Looking into JSON whose shape is a habit more than a promise: what is not there, or of another kind, is
/// absent.
namespace tare::provider {

inline const json::Value* member(const json::Object* object, std::string_view key) {
  return object == nullptr ? nullptr : object->if_contains(key);
}

inline const json::Object* object_in(const json::Object* object, std::string_view key) {
  const json::Value* value = member(object, key);
  return value == nullptr ? nullptr : value->if_object();
}

inline const json::Array* array_in(const json::Object* object, std::string_view key) {
  const json::Value* value = member(object, key);
  return value == nullptr ? nullptr : value->if_array();
}

inline std::optional<std::string_view> text_in(const json::Object* object, std::string_view key) {
  const json::Value* value = member(object, key);
  const boost::json::string* text = value == nullptr ? nullptr : value->if_string();
  if (text == nullptr) return {};
  return std::string_view(*text);
}

inline std::optional<std::uint64_t> count_in(const json::Object* object, std::string_view key) {
  const json::Value* value = member(object, key);
  if (value == nullptr || !value->is_number()) return {};
  boost::json::error_code error;
  const auto number = value->to_number<std::uint64_t>(error);
  if (error) return {};
  return number;
}

}  // namespace tare::provider
