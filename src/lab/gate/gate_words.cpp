#include "lab/gate/gate_words.hpp"

#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/gate/judge.hpp"
#include "lab/report/figures.hpp"
#include "lab/verdict/compare_words.hpp"

namespace tare::gate {

using report::Verdict;
using verdict::counted;

namespace {

/// How many budgets the file holds: each has at least one result. That of the invariants is in no file.
std::size_t budgets_of(const GateDocument& gate) {
  std::set<std::string_view> ids;
  for (const BudgetResult& result : gate.budgets) {
    if (result.kind != FigureKind::invariants) ids.insert(result.id);
  }
  return ids.size();
}

}  // namespace

std::string gate_line(const GateDocument& gate) {
  const VerdictCounts& n = gate.counts;
  const std::size_t all = gate.budgets.size();
  const std::string of = fmt::format(" ({})", counted(budgets_of(gate), "budget"));
  if (n.pass == all)
    return fmt::format("{} passed{}", all == 1 ? "the only figure" : fmt::format("all {} figures", all), of);
  std::vector<std::string> parts;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    parts.push_back(parts.empty() ? fmt::format("{} of {} figures {}", count, all, what)
                                  : fmt::format("{} {}", count, what));
  };
  add(n.fail, "failed");
  add(n.unmeasured, "unmeasured");
  add(n.inconclusive, "inconclusive");
  return text::join(parts, ", ") + of;
}

std::string gate_title(const GateDocument& gate) {
  return fmt::format("{} – {}", report::name_of(gate.verdict), gate_line(gate));
}

std::string figure_name(const BudgetResult& result) {
  switch (result.kind) {
    case FigureKind::tax:
      return fmt::format("{} ÷ {}, {} {}", result.target, result.versus.value_or("reference"), result.metric,
                         result.quantile.value_or(""));
    case FigureKind::outcome:
      return result.metric == "not_ok" ? "samples not ok" : result.metric + " samples";
    case FigureKind::invariants:
      return "broken invariants";
    default:
      return result.quantile ? result.metric + " " + *result.quantile : result.metric;
  }
}

std::string full_name(const BudgetResult& result) {
  if (result.kind == FigureKind::invariants) return figure_name(result);
  return fmt::format("{} on {}, {}", result.row, result.target, figure_name(result));
}

std::string point_text(const BudgetResult& result) {
  return result.measured ? figure_text(*result.measured, result.unit) : "n/a";
}

std::string interval_text(const BudgetResult& result) {
  return result.interval ? figure_interval_text(*result.interval, result.unit) : "";
}

std::string measured_text(const BudgetResult& result) {
  const std::string interval = interval_text(result);
  return interval.empty() ? point_text(result) : fmt::format("{} ({})", point_text(result), interval);
}

std::string sentence(const BudgetResult& result) {
  return joined(fmt::format("{}: {}, limit {}", full_name(result), measured_text(result), result.limit),
                result.reason.value_or(""));
}

std::vector<const BudgetResult*> worst_first(const GateDocument& gate) {
  std::vector<const BudgetResult*> results;
  for (const Verdict verdict : {Verdict::fail, Verdict::unmeasured, Verdict::inconclusive, Verdict::pass}) {
    for (const BudgetResult& result : gate.budgets) {
      if (result.verdict == verdict) results.push_back(&result);
    }
  }
  return results;
}

report::Tone tone_of(Verdict verdict) {
  if (verdict == Verdict::pass) return report::Tone::good;
  return verdict == Verdict::inconclusive ? report::Tone::warn : report::Tone::bad;
}

std::string side_text(const Side& side) {
  return fmt::format("{} · {} · {} · {}{}", side.source, side.started_at, side.tool, side.host,
                     side.complete ? "" : " · incomplete");
}

}  // namespace tare::gate
