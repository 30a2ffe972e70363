#include "lab/bench/agents/comparisons.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "lab/bench/agents/options.hpp"
#include "lab/bench/common/comparison.hpp"
#include "lab/measure/bootstrap.hpp"
#include "lab/measure/paired.hpp"
#include "lab/measure/quantile.hpp"

namespace tare::agents_bench {
namespace {

struct Quantile {
  const char* name;
  double q;
};
constexpr Quantile quantiles[] = {{"p50", 0.50}, {"p95", 0.95}};

/// The good samples of each worker, by its number.
std::map<std::uint32_t, std::vector<double>> by_worker(const report::Metric& metric) {
  std::map<std::uint32_t, std::vector<double>> workers;
  for (std::size_t i = 0; i < metric.samples.size(); ++i) {
    if (metric.outcome[i] == report::Outcome::ok && metric.samples[i])
      workers[metric.process[i]].push_back(*metric.samples[i]);
  }
  return workers;
}

double quantile_of(std::vector<double> samples, double q) {
  std::ranges::sort(samples);
  return measure::quantile_of_sorted(samples, q);
}

/// A quantile of each worker of both lanes, side by side; nothing when there are too few workers, or one of
/// them has too few samples for it.
std::optional<bench::Series> by_workers(const report::Metric& subject, const report::Metric& reference,
                                        double q) {
  bench::Series series;
  auto references = by_worker(reference);
  for (auto& [worker, samples] : by_worker(subject)) {
    const auto found = references.find(worker);
    if (found == references.end()) continue;
    if (std::min(samples.size(), found->second.size()) < measure::smallest_n(q)) return std::nullopt;
    series.subject.push_back(quantile_of(samples, q));
    series.reference.push_back(quantile_of(found->second, q));
  }
  if (series.subject.size() < fewest_paired_processes) return std::nullopt;
  return series;
}

measure::Comparison compared(const report::Metric& subject, const report::Metric& reference,
                             const Quantile& quantile, std::uint64_t seed) {
  if (const auto workers = by_workers(subject, reference, quantile.q)) {
    measure::Comparison result = measure::compare_paired(workers->subject, workers->reference);
    result.method = fmt::format("{} of each worker; {}", quantile.name, result.method);
    return result;
  }
  measure::Comparison result =
      measure::quantile_ratio_unpaired(bench::values(subject), bench::values(reference), quantile.q, seed);
  result.method = fmt::format(
      "{}, over the samples of all workers as if each were by itself: what is odd about a worker is in it",
      result.method);
  return result;
}

}  // namespace

std::vector<report::Comparison> comparisons(const report::Document& document, std::uint64_t seed) {
  std::vector<report::Comparison> all;
  const std::string reference = bench::reference_of(document);
  for (const report::Row& row : document.rows) {
    if (bench::lane_of(document, row.target) != report::Lane::subject) continue;
    const report::Row* other = report::find_row(document, row.row, reference);
    if (other == nullptr) continue;
    for (const auto& [name, metric] : row.metrics) {
      const auto found = other->metrics.find(name);
      if (metric.unit != "ms" || found == other->metrics.end()) continue;
      if (bench::good_samples(metric).empty() || bench::good_samples(found->second).empty()) continue;
      const report::Comparison names = bench::named(report::ComparisonKind::emulation, row, name, reference);
      for (const Quantile& quantile : quantiles)
        all.push_back(bench::filled(names, quantile.name, compared(metric, found->second, quantile, seed)));
    }
  }
  return all;
}

}  // namespace tare::agents_bench
