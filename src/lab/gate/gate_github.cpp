#include "lab/gate/gate_github.hpp"

#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/gate/gate_words.hpp"
#include "lab/report/figures.hpp"

namespace tare::gate {
namespace {

using report::Verdict;

std::string annotation(std::string_view command, const std::string& title, const std::string& message) {
  return fmt::format("::{} title={}::{}\n", command, github_property(title), github_message(message));
}

std::string annotations(std::string_view command, const std::vector<const BudgetResult*>& results) {
  const std::size_t shown = results.size() <= most_annotations ? results.size() : most_annotations - 1;
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) {
    const BudgetResult& result = *results[i];
    out += annotation(command, fmt::format("{}: {}", result.id, report::name_of(result.verdict)),
                      sentence(result));
  }
  if (shown == results.size()) return out;
  std::vector<std::string> rest;
  for (std::size_t i = shown; i < results.size(); ++i)
    rest.push_back(fmt::format("{} ({})", full_name(*results[i]), report::name_of(results[i]->verdict)));
  return out + annotation(command, fmt::format("{} more figures", rest.size()), text::join(rest, "; "));
}

/// Line ends are kept, as GitHub writes them; other control characters could move the cursor of a log.
std::string replaced(std::string_view text, std::string_view characters) {
  std::string out;
  for (const char c : text::escape_bad_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (characters.find(c) != std::string_view::npos) {
      out += fmt::format("%{:02X}", byte);
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string github_message(std::string_view text) {
  return replaced(text, "%\r\n");
}

std::string github_property(std::string_view text) {
  return replaced(text, "%\r\n:,");
}

std::string gate_annotations(const GateDocument& gate) {
  std::vector<const BudgetResult*> errors;
  std::vector<const BudgetResult*> warnings;
  for (const BudgetResult* result : worst_first(gate)) {
    if (result->verdict == Verdict::pass) continue;
    (result->verdict == Verdict::inconclusive ? warnings : errors).push_back(result);
  }
  return annotations("error", errors) + annotations("warning", warnings);
}

}  // namespace tare::gate
