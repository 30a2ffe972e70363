#include "lab/bench/common/worker_comparisons.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "lab/bench/common/comparison.hpp"
#include "lab/measure/bootstrap.hpp"
#include "lab/measure/paired.hpp"
#include "lab/measure/quantile.hpp"

namespace tare::bench {
namespace {

struct ComparedQuantile {
  const char* name;
  double q;
};
constexpr ComparedQuantile compared_quantiles[] = {{"p50", 0.50}, {"p95", 0.95}};

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
std::optional<Series> series_by_workers(const report::Metric& subject, const report::Metric& reference,
                                        double q) {
  Series series;
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
                             const ComparedQuantile& quantile, std::uint64_t seed) {
  if (const auto workers = series_by_workers(subject, reference, quantile.q)) {
    measure::Comparison result = measure::compare_paired(workers->subject, workers->reference);
    result.method = fmt::format("{} of each worker; {}", quantile.name, result.method);
    return result;
  }
  measure::Comparison result =
      measure::quantile_ratio_unpaired(values(subject), values(reference), quantile.q, seed);
  result.method = fmt::format(
      "{}, over the samples of all workers as if each were by itself: what is odd about a worker is in it",
      result.method);
  return result;
}

}  // namespace

std::vector<report::Comparison> worker_comparisons(const report::Document& document, std::uint64_t seed,
                                                   const std::set<std::string>& metrics) {
  std::vector<report::Comparison> all;
  const std::string reference = reference_of(document);
  for (const report::Row& row : document.rows) {
    if (lane_of(document, row.target) != report::Lane::subject) continue;
    const report::Row* other = report::find_row(document, row.row, reference);
    if (other == nullptr) continue;
    for (const auto& [name, metric] : row.metrics) {
      if (!metrics.empty() && !metrics.contains(name)) continue;
      const auto found = other->metrics.find(name);
      if (metric.unit != "ms" || found == other->metrics.end()) continue;
      if (good_samples(metric).empty() || good_samples(found->second).empty()) continue;
      const report::Comparison names = named(report::ComparisonKind::emulation, row, name, reference);
      for (const ComparedQuantile& quantile : compared_quantiles)
        all.push_back(filled(names, quantile.name, compared(metric, found->second, quantile, seed)));
    }
  }
  return all;
}

std::optional<report::Finding> unpaired_note(const report::Document& document, std::uint64_t processes,
                                             std::string_view what) {
  if (document.comparisons.empty() || processes >= fewest_paired_processes) return std::nullopt;
  return report::Finding{
      report::FindingLevel::note,
      {},
      {},
      fmt::format("{} of each row and lane: what is odd about a worker cannot be told from what is odd about "
                  "its {}; {} can (--processes)",
                  processes == 1 ? "one worker" : fmt::format("{} workers", processes), what,
                  fewest_paired_processes)};
}

}  // namespace tare::bench
