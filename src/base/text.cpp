#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace tare::text {
namespace {

/// Decodes the sequence at the front of `text`: its length in bytes and code point, length 0 when it is bad.
struct Decoded {
  std::size_t length = 0;
  char32_t code = 0;
};

Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  char32_t code = first & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3F);
  }
  const char32_t smallest = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  if (code < smallest || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {length, code};
}

enum class Controls { keep, escape };

std::string escape(std::string_view text, Controls controls) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded at = decode(text);
    // C1 controls too: U+009B starts a terminal sequence as ESC [ does.
    const bool control = at.length > 0 && (at.code < 0x20 || (at.code >= 0x7F && at.code < 0xA0));
    if (at.length == 0 || (control && controls == Controls::escape)) {
      const auto byte = static_cast<unsigned char>(text.front());
      out += byte == '\n'   ? "\\n"
             : byte == '\t' ? "\\t"
             : byte == '\r' ? "\\r"
                            : fmt::format("\\x{:02x}", byte);
      text.remove_prefix(1);
    } else {
      out += text.substr(0, at.length);
      text.remove_prefix(at.length);
    }
  }
  return out;
}

bool is_combining(char32_t c) {
  return (c >= 0x300 && c <= 0x36F) || (c >= 0x200B && c <= 0x200F) || (c >= 0xFE00 && c <= 0xFE0F);
}

bool is_wide(char32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
         (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
}

/// Insertions, deletions, changes and swaps of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> last;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const std::size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

std::string escape_bad_utf8(std::string_view text) {
  return escape(text, Controls::keep);
}

std::string one_line(std::string_view text) {
  return escape(text, Controls::escape);
}

std::string tail(std::string_view text, std::size_t lines, std::size_t bytes) {
  std::vector<std::string> kept;
  for (std::string& line : split(text, '\n')) {
    const std::string_view content = trim(line);
    if (!content.empty()) kept.emplace_back(content);
  }
  if (kept.size() > lines) kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(lines));
  std::string joined = join(kept, " | ");
  if (joined.size() > bytes) joined = "…" + joined.substr(joined.size() - bytes);
  return one_line(joined);
}

std::string_view cut(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

std::size_t width(std::string_view text) {
  std::size_t cells = 0;
  while (!text.empty()) {
    const Decoded at = decode(text);
    cells += is_combining(at.code) ? 0 : is_wide(at.code) ? 2 : 1;
    text.remove_prefix(std::max<std::size_t>(at.length, 1));
  }
  return cells;
}

std::optional<std::int64_t> to_int(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> to_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string significant(double value) {
  if (!std::isfinite(value)) return "n/a";
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 999.5) {
    return (value < 0 ? "-" : "") + count(static_cast<std::uint64_t>(std::llround(size)));
  }
  // Rounding first keeps 9.996 from printing as 10.00.
  const double rounded = *to_double(fmt::format("{:.2e}", size));
  const int digits = std::clamp(2 - static_cast<int>(std::floor(std::log10(rounded))), 0, 12);
  return fmt::format("{:.{}f}", value, digits);
}

std::string count(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string bytes(std::uint64_t value) {
  static constexpr const char* units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
  auto size = static_cast<double>(value);
  std::size_t unit = 0;
  while (size >= 1023.5 && unit + 1 < std::size(units)) {
    size /= 1024;
    ++unit;
  }
  const int digits = unit == 0 || size >= 9.95 ? 0 : 1;
  return fmt::format("{:.{}f} {}", size, digits, units[unit]);
}

std::optional<std::string> did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::optional<std::vector<std::string>> shell_words(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      word += command[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) return std::nullopt;
  if (in_word) words.push_back(std::move(word));
  return words;
}

}  // namespace tare::text
