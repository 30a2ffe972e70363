#include "engine/bindings/env_file.hpp"

#include <algorithm>

namespace tare::engine {
namespace {

constexpr std::string_view space = " \t\v\f\r\n";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

void skip_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
}

std::string with_line_breaks(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "\\n") {
      out += '\n';
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// The value at the start of `text`, which loses it and the rest of its last line.
std::string take_value(std::string_view& text) {
  const char quote = text.front();
  const bool quoted = quote == '"' || quote == '\'' || quote == '`';
  if (quoted) {
    if (const std::size_t end = text.find(quote, 1); end != std::string_view::npos) {
      const std::string_view inner = text.substr(1, end - 1);
      text.remove_prefix(end + 1);
      skip_line(text);
      return quote == '"' ? with_line_breaks(inner) : std::string(inner);
    }
  }
  const std::string_view line = text.substr(0, text.find('\n'));
  skip_line(text);
  return std::string(quoted ? line : trim(line.substr(0, line.find('#'))));
}

}  // namespace

std::map<std::string, std::string> parse_env(std::string_view given) {
  std::string lines(given);
  std::erase(lines, '\r');
  std::string_view text = trim(lines);
  std::map<std::string, std::string> found;
  for (;; text.remove_prefix(std::min(text.size(), text.find_first_not_of(space)))) {
    while (!text.empty() && (text.front() == '\n' || text.front() == '#')) skip_line(text);
    if (text.empty()) return found;
    const std::size_t equals = text.find('=');
    const std::size_t line_end = text.find('\n');
    if (equals == std::string_view::npos || equals > line_end) {
      skip_line(text);
      continue;
    }
    std::string_view name = trim(text.substr(0, equals));
    text.remove_prefix(equals + 1);
    if (text.empty() || text.front() == '\n') {
      found[std::string(name)] = "";
      skip_line(text);
      continue;
    }
    if (name.starts_with("export ")) name = trim(name.substr(7));
    if (name.empty()) continue;  // what follows may be a name yet
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(space)));
    found[std::string(name)] = text.empty() ? std::string() : take_value(text);
  }
}

}  // namespace tare::engine
