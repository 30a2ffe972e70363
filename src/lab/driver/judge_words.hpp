#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"

/// What the judges of samples have in common.
namespace tare::driver {

/// A counter in a reason.
inline std::string number(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "not reported";
}

/// A text among an operation's parameters; empty when there is none.
inline std::string member(const json::Object& params, std::string_view name) {
  const json::Value* value = params.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace tare::driver
