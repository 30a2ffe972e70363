#include "base/text.hpp"
#include "lab/report/markdown.hpp"

namespace tare::report {

std::string markdown_text(std::string_view text) {
  static constexpr std::string_view special = "\\`*_<>|[]#&~";
  const std::string line = text::one_line(text);
  const auto word = [&](std::size_t i) {
    const unsigned char c = i < line.size() ? static_cast<unsigned char>(line[i]) : ' ';
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    // Between letters `_` means nothing to GitHub, and names are easier to read in the source without "\".
    const bool inside_a_word = line[i] == '_' && i > 0 && word(i - 1) && word(i + 1);
    if (special.find(line[i]) != std::string_view::npos && !inside_a_word) out += '\\';
    out += line[i];
  }
  return out;
}

std::string markdown_code(std::string_view text) {
  std::string line = text::one_line(text);
  if (line.empty()) return {};
  std::string fence = "`";
  while (line.find(fence) != std::string::npos) fence += '`';
  const std::string space = fence.size() > 1 ? " " : "";
  std::string inner;
  // In a table a `|` ends the cell even in code.
  for (const char c : line) inner += c == '|' ? "\\|" : std::string(1, c);
  return fence + space + inner + space + fence;
}

std::string markdown_line(const std::vector<std::string>& cells) {
  return "| " + text::join(cells, " | ") + " |\n";
}

std::string markdown_head(const std::vector<std::string>& heads, std::size_t text_columns) {
  std::vector<std::string> rules;
  for (std::size_t i = 0; i < heads.size(); ++i) rules.emplace_back(i < text_columns ? "---" : "---:");
  return "\n" + markdown_line(heads) + markdown_line(rules);
}

}  // namespace tare::report
