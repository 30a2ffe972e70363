#include "lab/bench/common/worker_comparisons.hpp"

#include <algorithm>
#include <map>
#include <tuple>

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
  std::optional<double> measure::Summary::* member;
};
constexpr ComparedQuantile compared_quantiles[] = {{"p50", 0.50, &measure::Summary::p50},
                                                   {"p95", 0.95, &measure::Summary::p95}};

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

/// What stands for a worker in words: a gateway's runs are what is repeated.
std::string_view unit_of(const report::Row& row) {
  return row.bench == "gateway" ? "run" : "worker";
}

/// Quantiles that summaries have, where not all samples were kept: a ratio, and nothing on how sure it is.
measure::Comparison compared_summaries(const measure::Summary& subject, const measure::Summary& reference,
                                       std::optional<double> measure::Summary::* quantile) {
  measure::Comparison result;
  result.pairs = std::min(subject.count, reference.count);
  result.method = "ratio of the quantiles of all samples";
  const auto& [a, b] = std::tie(subject.*quantile, reference.*quantile);
  if (!a || !b) {
    result.notes.emplace_back("too few samples");
    return result;
  }
  result.difference = *a - *b;
  if (*a > 0 && *b > 0) result.ratio = *a / *b;
  result.notes.emplace_back("interval n/a: more samples were taken than are kept");
  return result;
}

measure::Comparison compared(const report::Row& row, const report::Metric& subject,
                             const report::Metric& reference, const ComparedQuantile& quantile,
                             std::uint64_t seed) {
  if (subject.histogram || reference.histogram)
    return compared_summaries(subject.summary, reference.summary, quantile.member);
  const std::string_view unit = unit_of(row);
  if (const auto workers = series_by_workers(subject, reference, quantile.q)) {
    measure::Comparison result = measure::compare_paired(workers->subject, workers->reference);
    result.method = fmt::format("{} of each {}; {}", quantile.name, unit, result.method);
    return result;
  }
  measure::Comparison result =
      measure::quantile_ratio_unpaired(values(subject), values(reference), quantile.q, seed);
  result.method = fmt::format(
      "{}, over the samples of all {}s as if each were by itself: what is odd about a {} is in it",
      result.method, unit, unit);
  // Requests of one run of a gateway share all that is odd about it: their number says nothing.
  if (unit == "run" && std::min(by_worker(subject).size(), by_worker(reference).size()) < 2) {
    if (result.ratio_interval || result.difference_interval)
      result.notes.emplace_back("interval n/a: one run; with six they are compared as pairs (--runs 6)");
    result.ratio_interval.reset();
    result.difference_interval.reset();
  }
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
      if (metrics.empty() && metric.unit != "ms") continue;
      if (found == other->metrics.end() || found->second.unit != metric.unit) continue;
      if (good_samples(metric).empty() || good_samples(found->second).empty()) continue;
      const report::Comparison names = named(report::ComparisonKind::emulation, row, name, reference);
      for (const ComparedQuantile& quantile : compared_quantiles)
        all.push_back(filled(names, quantile.name, compared(row, metric, found->second, quantile, seed)));
    }
  }
  return all;
}

std::optional<report::Finding> unpaired_note(const report::Document& document, std::uint64_t processes,
                                             std::string_view what) {
  if (document.comparisons.empty() || processes >= fewest_paired_processes) return std::nullopt;
  const bool runs = document.rows.front().bench == "gateway";
  const std::string unit(unit_of(document.rows.front()));
  return report::Finding{
      report::FindingLevel::note,
      {},
      {},
      fmt::format(
          "{} of each {}: what is odd about a {} cannot be told from what is odd about its {}; {} can "
          "({})",
          processes == 1 ? "one " + unit : fmt::format("{} {}s", processes, unit),
          runs ? "lane" : "row and lane", unit, what, fewest_paired_processes,
          runs ? "--runs" : "--processes")};
}

}  // namespace tare::bench
