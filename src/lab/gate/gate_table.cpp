#include "lab/gate/gate_table.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/gate/gate_words.hpp"
#include "lab/report/figures.hpp"
#include "lab/report/layout.hpp"

namespace tare::gate {
namespace {

using report::Tone;
using report::Verdict;

using Clauses = std::vector<std::string>;

constexpr std::string_view between_clauses = "; ";

Clauses clauses_of(const BudgetResult& result) {
  Clauses clauses;
  std::string_view rest = result.reason ? std::string_view(*result.reason) : "no reason";
  for (std::size_t end = 0; (end = rest.find(between_clauses)) != std::string_view::npos;
       rest.remove_prefix(end + between_clauses.size()))
    clauses.emplace_back(rest.substr(0, end));
  clauses.emplace_back(rest);
  return clauses;
}

/// Results of one verdict that say the same, each perhaps with something of its own before it.
struct Trouble {
  Verdict verdict = Verdict::fail;
  Clauses shared;  ///< what all of them say; of a single one that is everything
  std::vector<const BudgetResult*> results;
  std::vector<Clauses> own;  ///< parallel to `results`
};

/// What did not pass, worst first. What more than one of a verdict says is said once, however many they are.
std::vector<Trouble> troubles_of(const GateDocument& gate) {
  std::map<std::pair<Verdict, std::string>, std::size_t> times;
  for (const BudgetResult& result : gate.budgets) {
    for (const std::string& clause : clauses_of(result)) ++times[{result.verdict, clause}];
  }
  std::vector<Trouble> troubles;
  for (const BudgetResult* result : worst_first(gate)) {
    if (result->verdict == Verdict::pass) continue;
    Clauses shared;
    Clauses own;
    for (const std::string& clause : clauses_of(*result))
      (times.at({result->verdict, clause}) > 1 ? shared : own).push_back(clause);
    const auto same = std::ranges::find_if(troubles, [&](const Trouble& one) {
      return one.verdict == result->verdict && !shared.empty() && one.shared == shared;
    });
    Trouble& trouble =
        same == troubles.end() ? troubles.emplace_back(Trouble{result->verdict, shared, {}, {}}) : *same;
    trouble.results.push_back(result);
    trouble.own.push_back(own);
  }
  for (Trouble& one : troubles) {
    if (one.results.size() > 1) continue;
    one.shared = clauses_of(*one.results.front());
    one.own.front().clear();
  }
  return troubles;
}

/// What each is on its first line, its figures below, and last the reason of all.
std::string text_of(const Trouble& trouble, std::size_t width, report::Colour colour) {
  const std::size_t n = trouble.results.size();
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    const BudgetResult& result = *trouble.results[i];
    const std::string head =
        fmt::format("{}  {}: {}", report::name_of(result.verdict), result.id, full_name(result));
    for (const std::string& line : report::wrap(head, width, report::LongWords::broken))
      text += report::paint(line, tone_of(result.verdict), colour) + "\n";
    text += report::paragraph("", fmt::format("limit {} · measured {}", result.limit, measured_text(result)),
                              width);
    if (!trouble.own[i].empty())
      text += report::paragraph("", text::join(trouble.own[i], between_clauses), width);
  }
  const std::string of = n == 1 ? "" : n == 2 ? "both: " : fmt::format("all {}: ", n);
  return text + report::paragraph("", of + text::join(trouble.shared, between_clauses), width);
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
  for (const Trouble& trouble : troubles_of(gate)) out += "\n" + text_of(trouble, width, colour);
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
