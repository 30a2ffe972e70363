#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tare::engine {

/// A word of JavaScript, as far as finding CommonJS's exports needs it: every punctuator is one character.
struct CjsToken {
  enum class Kind : std::uint8_t { name, number, string, punctuator, regexp, piece, end };
  Kind kind = Kind::end;  ///< a `piece` is the text of a template between two expressions
  std::uint32_t start = 0;
  std::uint32_t end = 0;
};

/// The tokens of UTF-8 source, the last one being `end`; nothing when it is no JavaScript: brackets that
/// don't match, text or patterns without an end.
std::optional<std::vector<CjsToken>> cjs_tokens(std::string_view source);

/// What a string token stands for, as UTF-8; nothing when an escape is wrong or it isn't Unicode.
std::optional<std::string> cjs_string(std::string_view literal);

}  // namespace tare::engine
