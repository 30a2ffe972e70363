#pragma once

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "serve/serve.hpp"

namespace tare::guest_driver {

/// A parameter of a request. Throws Refusal(invalid) for one that is missing.
template <class T>
const T& needed(const std::optional<T>& value, std::string_view name) {
  if (!value) throw serve::Refusal{"invalid", fmt::format("params.{} is missing", name)};
  return *value;
}

/// "fanout_8" is one of "fanout_".
inline bool is_sized(std::string_view row, std::string_view prefix) {
  if (!row.starts_with(prefix)) return false;
  const std::string_view digits = row.substr(prefix.size());
  const auto n = text::to_int(digits);
  return n && *n > 0 && digits == std::to_string(*n);
}

}  // namespace tare::guest_driver
