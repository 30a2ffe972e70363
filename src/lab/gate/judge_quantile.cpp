#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/gate/judge.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/report/figures.hpp"

/// Quantiles of one lane, and the ratios that the run itself compared.
namespace tare::gate {
namespace {

using report::Verdict;

struct Carried {
  std::optional<double> point;
  std::optional<report::Interval> interval;
  double q;
};

Carried carried(const measure::Summary& s, const std::string& quantile) {
  if (quantile == "p90") return {s.p90, s.p90_interval, 0.90};
  if (quantile == "p95") return {s.p95, s.p95_interval, 0.95};
  if (quantile == "p99") return {s.p99, s.p99_interval, 0.99};
  return {s.p50, s.p50_interval, 0.50};
}

/// "n=198/200: 2 of 200 samples failed: exit code 1", or "" when all are good.
std::string bad_samples(const report::Row& row, const report::Metric& metric) {
  const report::SampleCount count = report::sample_count(row, metric);
  if (count.ok == count.taken) return "";
  return report::n_text(count) + ": " + report::failure_text(row, metric);
}

std::string why_judged(Verdict verdict, std::uint64_t n) {
  if (verdict == Verdict::fail) return "the whole interval is past the limit";
  if (verdict == Verdict::inconclusive)
    return fmt::format("the limit lies within the interval (n={}); more samples make it narrower",
                       text::count(n));
  return "";
}

std::optional<std::string> if_any(const std::string& reason) {
  return reason.empty() ? std::nullopt : std::optional(reason);
}

/// "it has total, wait_reap"
std::string known_metrics(const report::Row& row) {
  std::vector<std::string> names;
  for (const auto& [name, metric] : row.metrics) names.push_back(name);
  return names.empty() ? "it has none" : "it has " + text::join(names, ", ");
}

}  // namespace

BudgetResult judge_quantile(const BudgetSpec& budget, const Place& place, const std::string& name) {
  BudgetResult result = blank(budget, place.row, place.target);
  result.metric = name;
  if (const auto why = why_no_row(place.now, "the run")) return unmeasured(result, *why);
  const auto found = place.now->metrics.find(name);
  if (found == place.now->metrics.end())
    return unmeasured(result,
                      fmt::format("the row has no metric '{}' ({})", name, known_metrics(*place.now)));
  const report::Metric& metric = found->second;
  if (!set_limits(result, budget, metric.unit)) return result;
  const Carried figure = carried(metric.summary, budget.quantile);
  const std::string bad = bad_samples(*place.now, metric);
  if (metric.summary.count == 0 || !figure.point) {
    const std::string why = metric.summary.count == 0
                                ? std::string("no good sample")
                                : report::quantile_figure(metric.summary, budget.quantile).reason;
    return unmeasured(result, joined(why, bad));
  }
  result.measured = figure.point;
  result.interval = figure.interval;
  if (!figure.interval) {
    result.verdict = Verdict::inconclusive;
    result.reason =
        joined(fmt::format("{} has no interval with n={}; it needs {} good samples", budget.quantile,
                           metric.summary.count, measure::smallest_n_for_interval(figure.q)),
               bad);
    return result;
  }
  result.verdict = judge_interval({result.max, result.min}, *figure.interval);
  result.reason = if_any(joined(why_judged(result.verdict, metric.summary.count), bad));
  return result;
}

namespace {

BudgetResult judge_tax(const BudgetSpec& budget, const Place& place, const report::Comparison& tax,
                       const report::Document& run) {
  BudgetResult result = blank(budget, place.row, place.target);
  result.metric = tax.metric;
  result.versus = tax.reference;
  result.unit = "×";
  result.max = budget.max ? std::optional(budget.max->value) : std::nullopt;
  result.min = budget.min ? std::optional(budget.min->value) : std::nullopt;
  const report::Row* reference = report::find_row(run, place.row, tax.reference);
  if (reference != nullptr && reference->status == report::RowStatus::failed)
    return unmeasured(result, fmt::format("{} {}", tax.reference, *why_no_row(reference, "the run")));
  if (!tax.ratio) return unmeasured(result, tax.reason.value_or("the run could not compare it"));
  result.measured = tax.ratio;
  result.interval = tax.interval;
  const auto metric = place.now->metrics.find(tax.metric);
  const std::string bad = metric == place.now->metrics.end() ? "" : bad_samples(*place.now, metric->second);
  if (!tax.interval) {
    result.verdict = Verdict::inconclusive;
    result.reason = joined(tax.reason.value_or(fmt::format("no interval with {} pairs", tax.pairs)), bad);
    return result;
  }
  result.verdict = judge_interval({result.max, result.min}, *tax.interval);
  result.reason = if_any(joined(why_judged(result.verdict, tax.pairs), bad));
  return result;
}

}  // namespace

std::vector<BudgetResult> judge_taxes(const BudgetSpec& budget, const Place& place,
                                      const report::Document& run) {
  const BudgetResult none = blank(budget, place.row, place.target);
  if (const auto why = why_no_row(place.now, "the run")) return {unmeasured(none, *why)};
  std::vector<BudgetResult> results;
  for (const report::Comparison& tax : run.comparisons) {
    if (report::name_of(tax.kind) != budget.figure || tax.row != place.row || tax.subject != place.target ||
        tax.quantile != budget.quantile || !matches(budget.metric, tax.metric))
      continue;
    results.push_back(judge_tax(budget, place, tax, run));
  }
  if (!results.empty()) return results;
  return {unmeasured(none, fmt::format("the run has no {} tax of this row: {}", budget.figure,
                                       budget.figure == "total"
                                           ? "it needs the native target's good samples in the same rounds"
                                           : "it needs the reference's good samples in the same rounds"))};
}

}  // namespace tare::gate
