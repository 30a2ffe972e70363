#include "runtime/gateway/json_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace tare::gateway {
namespace {

/// Bytes that JSON has no plain way to write: the two of its own and the control characters.
constexpr auto is_special = [] {
  std::array<bool, 256> special{};
  for (std::size_t c = 0; c < 0x20; ++c) special[c] = true;
  special['"'] = special['\\'] = true;
  return special;
}();

void append_special(std::string& out, char c) {
  static constexpr std::string_view hex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += hex[static_cast<unsigned char>(c) >> 4];
      out += hex[static_cast<unsigned char>(c) & 0xF];
  }
}

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_special[static_cast<unsigned char>(text[at])]) continue;
    out.append(text, from, at - from);
    append_special(out, text[at]);
    from = at + 1;
  }
  out.append(text, from);
  out += '"';
}

void append_number(std::string& out, std::int64_t number) {
  std::array<char, 24> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end);
}

void append_number(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end);
}

std::string& ObjectText::value(std::string_view key) {
  if (!empty_) out_ += ',';
  empty_ = false;
  out_ += '"';
  out_ += key;
  out_ += "\":";
  return out_;
}

ObjectText& ObjectText::text(std::string_view key, std::string_view value) {
  append_string(this->value(key), value);
  return *this;
}

ObjectText& ObjectText::number(std::string_view key, std::int64_t value) {
  append_number(this->value(key), value);
  return *this;
}

ObjectText& ObjectText::decimal(std::string_view key, double value) {
  append_number(this->value(key), value);
  return *this;
}

ObjectText& ObjectText::boolean(std::string_view key, bool value) {
  this->value(key) += value ? "true" : "false";
  return *this;
}

ObjectText& ObjectText::null(std::string_view key) {
  value(key) += "null";
  return *this;
}

ObjectText& ObjectText::json(std::string_view key, std::string_view value) {
  this->value(key) += value;
  return *this;
}

std::string beginning_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t size = most;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return std::string(text.substr(0, size));
}

}  // namespace tare::gateway
