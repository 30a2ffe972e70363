#include "lab/gate/gate_junit.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/gate/gate_words.hpp"
#include "lab/report/figures.hpp"

namespace tare::gate {
namespace {

using report::Verdict;

/// The child that says how the case ended, "" for a pass.
std::string outcome(const BudgetResult& result) {
  if (result.verdict == Verdict::pass) return "";
  const std::string reason = xml_text(result.reason.value_or("no reason"));
  if (result.verdict == Verdict::inconclusive)
    return fmt::format("      <skipped message=\"inconclusive: {}\"/>\n", reason);
  const std::string_view element = result.verdict == Verdict::fail ? "failure" : "error";
  return fmt::format("      <{0} message=\"{1}\" type=\"{2}\">{3}</{0}>\n", element, reason,
                     report::name_of(result.verdict), xml_text(sentence(result)));
}

std::string test_case(const BudgetResult& result) {
  const std::string start =
      fmt::format("    <testcase classname=\"tare.gate.{}\" name=\"{}\"", xml_text(result.id),
                  xml_text(full_name(result) + " " + result.limit));
  const std::string inside = outcome(result);
  return inside.empty() ? start + "/>\n" : start + ">\n" + inside + "    </testcase>\n";
}

/// U+FFFE and U+FFFF are valid UTF-8, but no characters of XML.
std::string without_noncharacters(std::string text) {
  for (const std::string_view bad : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (std::size_t at = 0; (at = text.find(bad, at)) != std::string::npos;)
      text.replace(at, bad.size(), bad.back() == '\xbe' ? "\\uFFFE" : "\\uFFFF");
  }
  return text;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : without_noncharacters(text::escape_bad_utf8(text))) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
      case '\r':
      case '\t':
        out += fmt::format("&#{};", byte);  // else an attribute's would become spaces
        break;
      default:
        out += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
    }
  }
  return out;
}

std::string gate_junit(const GateDocument& gate) {
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", gate.budgets.size(),
                  gate.counts.fail, gate.counts.unmeasured, gate.counts.inconclusive);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites name=\"tare gate\" {}>\n", counts);
  out += fmt::format("  <testsuite name=\"{}\" {}>\n", xml_text(gate.run.source), counts);
  for (const BudgetResult& result : gate.budgets) out += test_case(result);
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace tare::gate
