#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.hpp"

/// What the parameters of a method may be. Every object is closed: what it does not name is refused.
namespace tare::gateway {

enum class Kind : std::uint8_t {
  text,
  name,  ///< a text that is not empty
  text_or_null,
  whole,  ///< a whole number, 0 or more
  boolean,
  boolean_or_text,
  object,
  list,
  texts,  ///< a list of texts
};

enum class Need : std::uint8_t { optional, required };

struct Field {
  std::string_view name;
  Kind kind;
  Need need = Need::optional;
};
using Schema = std::span<const Field>;

/// Throws Refusal(invalid_request): "invalid sessions.list params: at root: unexpected property 'bogus'".
/// `what` is what comes before the place, `place` where the object stands: "root" or "/client".
void check(std::string_view what, std::string_view place, const json::Value& value, Schema schema);

/// The members of an object that has been checked; absent when it has none, or null.
std::optional<std::string_view> text_of(const json::Value& object, std::string_view key);
std::optional<std::int64_t> whole_of(const json::Value& object, std::string_view key);
std::optional<bool> boolean_of(const json::Value& object, std::string_view key);
const json::Value* member_of(const json::Value& object, std::string_view key);

}  // namespace tare::gateway
