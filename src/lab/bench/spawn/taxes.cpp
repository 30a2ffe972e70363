#include "lab/bench/spawn/taxes.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "lab/measure/bootstrap.hpp"
#include "lab/measure/paired.hpp"

namespace tare::spawn {
namespace {

using report::ComparisonKind;

constexpr const char* floor_row = "spawn_exit";
constexpr const char* floor_target = "sh";
constexpr const char* native_target = "native";

/// The good samples of a metric, by round.
std::map<std::uint32_t, double> good_samples(const report::Metric& metric) {
  std::map<std::uint32_t, double> samples;
  for (std::size_t i = 0; i < metric.samples.size(); ++i) {
    if (metric.outcome[i] == report::Outcome::ok && metric.samples[i])
      samples.emplace(metric.round[i], *metric.samples[i]);
  }
  return samples;
}

struct Series {
  std::vector<double> subject;
  std::vector<double> reference;
};

Series by_round(const report::Metric& subject, const report::Metric& reference) {
  Series series;
  const auto references = good_samples(reference);
  for (const auto& [round, value] : good_samples(subject)) {
    const auto found = references.find(round);
    if (found == references.end()) continue;
    series.subject.push_back(value);
    series.reference.push_back(found->second);
  }
  return series;
}

std::vector<double> values(const report::Metric& metric) {
  std::vector<double> all;
  for (const auto& [round, value] : good_samples(metric)) all.push_back(value);
  return all;
}

/// A comparison's names; its figures come from the statistics.
report::Comparison named(ComparisonKind kind, const report::Row& subject, const std::string& metric,
                         const std::string& reference) {
  report::Comparison comparison;
  comparison.kind = kind;
  comparison.row = subject.row;
  comparison.metric = metric;
  comparison.subject = subject.target;
  comparison.reference = reference;
  comparison.unit = subject.metrics.at(metric).unit;
  return comparison;
}

report::Comparison filled(report::Comparison comparison, const char* quantile,
                          const measure::Comparison& result) {
  comparison.quantile = quantile;
  comparison.ratio = result.ratio;
  comparison.interval = result.ratio_interval;
  comparison.difference = result.difference;
  comparison.difference_interval = result.difference_interval;
  comparison.pairs = result.pairs;
  comparison.method = result.method;
  if (!result.notes.empty()) comparison.reason = text::join(result.notes, "; ");
  return comparison;
}

class Taxes {
 public:
  Taxes(const report::Document& document, std::uint64_t seed) : document_(document), seed_(seed) {}

  std::vector<report::Comparison> compute() {
    const std::string reference = reference_target();
    for (const report::Row& row : document_.rows) {
      if (lane_of(row.target) == report::Lane::subject) paired(ComparisonKind::emulation, row, reference);
      if (row.target != native_target && lane_of(row.target) != report::Lane::floor) {
        paired(ComparisonKind::total, row, native_target);
      }
      if (row.row == "node_exit_1") against_floor(row);
    }
    return std::move(comparisons_);
  }

 private:
  const report::Target* find_target(const std::string& id) const {
    const auto found = std::find_if(document_.targets.begin(), document_.targets.end(),
                                    [&](const report::Target& target) { return target.id == id; });
    return found == document_.targets.end() ? nullptr : &*found;
  }

  report::Lane lane_of(const std::string& target) const {
    const report::Target* facts = find_target(target);
    return facts == nullptr ? report::Lane::subject : facts->kind;
  }

  std::string reference_target() const {
    for (const report::Target& target : document_.targets) {
      if (target.kind == report::Lane::reference) return target.id;
    }
    return {};
  }

  /// A phase is compared only where both lanes mean the same by it.
  bool comparable(const std::string& metric, const std::string& a, const std::string& b) const {
    return metric == "total" || (!asynchronous(a) && !asynchronous(b));
  }

  bool asynchronous(const std::string& target) const {
    const report::Target* facts = find_target(target);
    return facts != nullptr && facts->asynchronous_spawn.value_or(false);
  }

  void paired(ComparisonKind kind, const report::Row& row, const std::string& other) {
    const report::Row* reference = report::find_row(document_, row.row, other);
    if (reference == nullptr) return;
    for (const auto& [name, metric] : row.metrics) {
      const auto found = reference->metrics.find(name);
      if (found == reference->metrics.end() || !comparable(name, row.target, other)) continue;
      const Series series = by_round(metric, found->second);
      if (series.subject.empty()) continue;
      const report::Comparison names = named(kind, row, name, other);
      comparisons_.push_back(filled(names, "p50", measure::compare_paired(series.subject, series.reference)));
      comparisons_.push_back(filled(
          names, "p95", measure::quantile_ratio_paired(series.subject, series.reference, 0.95, seed_)));
    }
  }

  void against_floor(const report::Row& row) {
    const report::Row* floor = report::find_row(document_, floor_row, floor_target);
    if (floor == nullptr || !row.metrics.contains("total") || !floor->metrics.contains("total")) return;
    const std::vector<double> subject = values(row.metrics.at("total"));
    const std::vector<double> reference = values(floor->metrics.at("total"));
    if (subject.empty() || reference.empty()) return;
    const report::Comparison names =
        named(ComparisonKind::floor, row, "total", std::string(floor_target) + "/" + floor_row);
    comparisons_.push_back(
        filled(names, "p50", measure::quantile_ratio_unpaired(subject, reference, 0.50, seed_)));
    comparisons_.push_back(
        filled(names, "p95", measure::quantile_ratio_unpaired(subject, reference, 0.95, seed_)));
  }

  const report::Document& document_;
  std::uint64_t seed_;
  std::vector<report::Comparison> comparisons_;
};

}  // namespace

std::vector<report::Comparison> taxes(const report::Document& document, std::uint64_t seed) {
  return Taxes(document, seed).compute();
}

}  // namespace tare::spawn
