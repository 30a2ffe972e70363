#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/gate/judge.hpp"
#include "lab/report/figures.hpp"

/// Figures that are what they are: counted or read off, without an interval.
namespace tare::gate {
namespace {

using report::Verdict;

BudgetResult exact(BudgetResult result, double value) {
  result.measured = value;
  result.verdict = judge_point({result.max, result.min}, value);
  if (result.verdict == Verdict::fail) result.reason = "past the limit";
  return result;
}

std::optional<double> number(const std::optional<std::uint64_t>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::optional<double> resource_of(const report::Resources& r, const std::string& name) {
  if (name == "cpuUserMs") return r.cpu_user_ms;
  if (name == "cpuSystemMs") return r.cpu_system_ms;
  if (name == "maxRssBytes") return number(r.max_rss_bytes);
  if (name == "pssBytes") return number(r.pss_bytes);
  if (name == "threads") return number(r.threads);
  if (name == "fds") return number(r.fds);
  if (r.cpu_user_ms && r.cpu_system_ms) return *r.cpu_user_ms + *r.cpu_system_ms;
  return std::nullopt;
}

}  // namespace

BudgetResult judge_counter(const BudgetSpec& budget, const Place& place) {
  BudgetResult result = blank(budget, place.row, place.target);
  if (const auto why = why_no_row(place.now, "the run")) return unmeasured(result, *why);
  const auto found = place.now->counters.find(budget.figure);
  if (found == place.now->counters.end()) {
    std::vector<std::string> names;
    for (const auto& [name, value] : place.now->counters) names.push_back(name);
    return unmeasured(result,
                      fmt::format("the row has no counter '{}' ({})", budget.figure,
                                  names.empty() ? "it has none" : "it has " + text::join(names, ", ")));
  }
  if (!set_limits(result, budget, "")) return result;
  return exact(result, static_cast<double>(found->second));
}

BudgetResult judge_resource(const BudgetSpec& budget, const Place& place) {
  BudgetResult result = blank(budget, place.row, place.target);
  if (const auto why = why_no_row(place.now, "the run")) return unmeasured(result, *why);
  if (!set_limits(result, budget, resource_unit(budget.figure))) return result;
  const report::Resources& resources = place.now->resources;
  const auto value = resource_of(resources, budget.figure);
  if (!value)
    return unmeasured(result, joined(fmt::format("the run has no {} of this row", budget.figure),
                                     text::join(resources.methods, "; ")));
  const bool at_floor = budget.figure == "maxRssBytes" && resources.max_rss_floor_bytes &&
                        *resources.max_rss_bytes <= *resources.max_rss_floor_bytes;
  result = exact(result, *value);
  if (!at_floor) return result;
  // The true figure is this one or less: that is enough to be below a limit, and for nothing else.
  const bool below = result.verdict == Verdict::pass && !result.min;
  result.reason = "the figure is no more than what the measuring side itself leaves in it";
  if (!below) result.verdict = Verdict::inconclusive;
  return result;
}

BudgetResult judge_outcome(const BudgetSpec& budget, const Place& place) {
  BudgetResult result = blank(budget, place.row, place.target);
  const bool failed = place.now != nullptr && place.now->status == report::RowStatus::failed;
  const auto why = why_no_row(place.now, "the run");
  if (why && !failed) return unmeasured(result, *why);
  if (!set_limits(result, budget, "")) return result;
  std::uint64_t all = 0;
  std::uint64_t counted = 0;
  for (const auto& [outcome, n] : place.now->outcomes) {
    all += n;
    if (outcome == budget.figure || (budget.figure == "not_ok" && outcome != "ok")) counted += n;
  }
  if (all == 0) return unmeasured(result, why.value_or("no sample was taken"));
  result = exact(result, static_cast<double>(counted));
  if (result.verdict == Verdict::fail)
    result.reason = fmt::format("{} of {} samples", text::count(counted), text::count(all));
  // A row that failed may have ended early: what did not happen yet says nothing.
  if (failed && result.verdict == Verdict::pass) return unmeasured(result, *why);
  if (failed) result.reason = joined(*result.reason, *why);
  return result;
}

BudgetResult judge_invariants(const report::Document& run) {
  BudgetResult result;
  result.id = "invariants";
  result.kind = FigureKind::invariants;
  result.row = "*";
  result.target = "*";
  result.metric = "broken";
  result.limit = "0 broken";
  result.max = 0;
  const std::vector<std::string> broken = report::broken_invariants(run);
  const bool checked = std::ranges::any_of(run.rows, [](const report::Row& row) {
    return std::ranges::any_of(row.invariants, [](const report::Invariant& i) { return i.checked > 0; });
  });
  if (broken.empty() && !checked) return unmeasured(result, "nothing was checked");
  result.measured = static_cast<double>(broken.size());
  if (!broken.empty()) {
    result.verdict = Verdict::fail;
    result.reason = broken.front();
    if (broken.size() > 1) *result.reason += fmt::format("; and {} more", broken.size() - 1);
    return result;
  }
  const std::string text = report::invariants_text(run);
  result.verdict = text.starts_with("all ") ? Verdict::pass : Verdict::inconclusive;
  if (result.verdict == Verdict::inconclusive) result.reason = text;
  return result;
}

}  // namespace tare::gate
