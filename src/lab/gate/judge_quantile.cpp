#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/gate/judge.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/measure/series.hpp"
#include "lab/report/figures.hpp"
#include "lab/verdict/effect.hpp"
#include "lab/verdict/pairing.hpp"

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

/// `n` says what the interval rests on: "n=200", "8 processes".
std::string why_judged(Verdict verdict, const std::string& n, const std::string& more) {
  if (verdict == Verdict::fail) return "the whole interval is past the limit";
  if (verdict == Verdict::inconclusive)
    return fmt::format("the limit lies within the interval ({}); more {} make it narrower", n, more);
  return "";
}

/// From here on the medians of processes have an interval of 95 %.
constexpr std::size_t fewest_processes = 6;

/// The quantile of each process, ascending. Nothing when there are too few, or one does not carry it.
std::optional<std::vector<double>> quantiles_of_processes(const report::Metric& metric, double q) {
  if (metric.histogram) return std::nullopt;  // it does not say what is of which process
  const verdict::Series series = verdict::series_of(metric);
  std::map<std::uint32_t, std::vector<double>> processes;
  for (std::size_t i = 0; i < series.samples.size(); ++i)
    processes[series.process[i]].push_back(series.samples[i]);
  if (processes.size() < fewest_processes) return std::nullopt;
  std::vector<double> quantiles;
  for (auto& [process, samples] : processes) {
    std::ranges::sort(samples);
    const auto quantile = measure::quantile_if_carried(samples, q);
    if (!quantile) return std::nullopt;
    quantiles.push_back(*quantile);
  }
  std::ranges::sort(quantiles);
  return quantiles;
}

/// The interval that a quantile is judged by.
struct Basis {
  std::optional<report::Interval> interval;
  std::string n;      ///< what it rests on
  std::string more;   ///< what would make it narrower
  std::string doubt;  ///< why it should be wider, or ""
};

/// Samples of one process share its luck, so that processes are counted wherever there are enough of them.
Basis basis_of(const report::Row& row, const report::Metric& metric, const Carried& figure) {
  const std::string_view flag = verdict::repeat_flag(row);
  if (const auto quantiles = quantiles_of_processes(metric, figure.q)) {
    Basis basis{measure::quantile_interval(*quantiles, 0.5), fmt::format("{} processes", quantiles->size()),
                fmt::format("processes ({})", flag), ""};
    // The point is of all samples, and the middle process need not agree.
    if (basis.interval) {
      auto& [low, high] = *basis.interval;
      low = std::min(low, *figure.point);
      high = std::max(high, *figure.point);
    }
    return basis;
  }
  const measure::Summary& s = metric.summary;
  const std::string_view more = row.bench == "gateway" ? flag : "--iterations";
  Basis basis{figure.interval, "n=" + text::count(s.count), fmt::format("samples ({})", more), ""};
  if (metric.histogram)
    basis.doubt = "not all samples were kept, so that nothing tells how far they depend on each other";
  if (s.lag1.value_or(0) > measure::dependence_warning) {
    const std::size_t least = measure::smallest_n(figure.q);
    basis.doubt = fmt::format(
        "samples depend on each other (lag-1 {:.2f}), so that the interval is too narrow; measure with "
        "{} 8{}",
        *s.lag1, flag, least > 1 ? fmt::format(" and at least {} samples in each", least) : "");
  }
  return basis;
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
  const Basis basis = basis_of(*place.now, metric, figure);
  result.interval = basis.interval;
  if (!basis.interval) {
    result.verdict = Verdict::inconclusive;
    result.reason =
        joined(fmt::format("{} has no interval with n={}; it needs {} good samples", budget.quantile,
                           metric.summary.count, measure::smallest_n_for_interval(figure.q)),
               bad);
    return result;
  }
  result.verdict = judge_interval({result.max, result.min}, *basis.interval);
  result.reason = if_any(joined(joined(why_judged(result.verdict, basis.n, basis.more), basis.doubt), bad));
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
  result.reason = if_any(
      joined(why_judged(result.verdict, text::count(tax.pairs) + " pairs", "rounds (--iterations)"), bad));
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
