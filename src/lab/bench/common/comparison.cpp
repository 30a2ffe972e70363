#include "lab/bench/common/comparison.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tare::bench {

std::map<std::uint32_t, double> good_samples(const report::Metric& metric) {
  std::map<std::uint32_t, double> samples;
  for (std::size_t i = 0; i < metric.samples.size(); ++i) {
    if (metric.outcome[i] == report::Outcome::ok && metric.samples[i])
      samples.emplace(metric.round[i], *metric.samples[i]);
  }
  return samples;
}

std::vector<double> values(const report::Metric& metric) {
  std::vector<double> all;
  for (const auto& [round, value] : good_samples(metric)) all.push_back(value);
  return all;
}

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

report::Lane lane_of(const report::Document& document, std::string_view target) {
  const auto found = std::ranges::find(document.targets, target, &report::Target::id);
  return found == document.targets.end() ? report::Lane::subject : found->kind;
}

std::string reference_of(const report::Document& document) {
  const auto found = std::ranges::find(document.targets, report::Lane::reference, &report::Target::kind);
  return found == document.targets.end() ? std::string() : found->id;
}

report::Comparison named(report::ComparisonKind kind, const report::Row& subject, const std::string& metric,
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

report::Comparison filled(report::Comparison names, std::string_view quantile,
                          const measure::Comparison& result) {
  names.quantile = quantile;
  names.ratio = result.ratio;
  names.interval = result.ratio_interval;
  names.difference = result.difference;
  names.difference_interval = result.difference_interval;
  names.pairs = result.pairs;
  names.method = result.method;
  if (!result.notes.empty()) names.reason = text::join(result.notes, "; ");
  return names;
}

}  // namespace tare::bench
