#include "lab/gate/gate_table.hpp"

#include <fmt/format.h>

#include "lab/gate/gate_words.hpp"
#include "lab/report/figures.hpp"
#include "lab/report/layout.hpp"

namespace tare::gate {
namespace {

using report::Tone;
using report::Verdict;

/// One that did not pass: what it is on the first line, the figures and the reason below.
std::string trouble(const BudgetResult& result, std::size_t width, report::Colour colour) {
  const std::string head =
      fmt::format("{}  {}: {}", report::name_of(result.verdict), result.id, full_name(result));
  std::string text;
  for (const std::string& line : report::wrap(head, width, report::LongWords::broken))
    text += report::paint(line, tone_of(result.verdict), colour) + "\n";
  text += report::paragraph("", fmt::format("limit {} · measured {}", result.limit, measured_text(result)),
                            width);
  return text + report::paragraph("", result.reason.value_or("no reason"), width);
}

/// "total p50" where the row and the target have columns of their own.
report::Table passes(const GateDocument& gate) {
  report::Table table;
  table.title = "passed";
  table.label_columns = 4;
  table.lanes.push_back({"", {{"limit"}, {"measured"}, {"95 % CI"}}});
  for (const BudgetResult& result : gate.budgets) {
    if (result.verdict != Verdict::pass) continue;
    const bool everywhere = result.kind == FigureKind::invariants;
    report::TableLine line;
    line.labels = {result.id, everywhere ? "" : result.row, everywhere ? "" : result.target,
                   figure_name(result)};
    line.cells = {{result.limit}, {point_text(result)}, {interval_text(result)}};
    table.lines.push_back(line);
  }
  return table;
}

}  // namespace

std::string gate_table(const GateDocument& gate, std::size_t width, report::Colour colour) {
  std::string out = report::paragraph("gate", gate_title(gate), width, colour, tone_of(gate.verdict));
  out += report::paragraph("run", side_text(gate.run), width);
  if (gate.baseline) out += report::paragraph("baseline", side_text(*gate.baseline), width);
  for (const std::string& note : gate.notes) out += report::paragraph("note", note, width);
  for (const BudgetResult* result : worst_first(gate)) {
    if (result->verdict != Verdict::pass) out += "\n" + trouble(*result, width, colour);
  }
  if (gate.counts.pass == 0) return out;
  out += "\n" + report::lay_out(passes(gate), width, colour);
  // A pass with something to add, such as samples that are missing from it.
  for (const BudgetResult& result : gate.budgets) {
    if (result.verdict == Verdict::pass && result.reason)
      out += report::flow(fmt::format("{}, {}: {}", result.id, full_name(result), *result.reason), width);
  }
  return out;
}

}  // namespace tare::gate
