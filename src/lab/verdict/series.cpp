#include <algorithm>
#include <array>
#include <cmath>

#include "lab/verdict/effect.hpp"
#include "lab/verdict/units.hpp"

/// What is compared: the samples of a metric, or the summary of more than are kept.
namespace tare::verdict {
namespace {

/// Its quantiles in a unit of which one is `factor` of the old.
void scale(measure::Summary& summary, double factor) {
  for (std::optional<double>* point : {&summary.p50, &summary.p90, &summary.p95, &summary.p99}) {
    if (*point) **point *= factor;
  }
}

}  // namespace

double quantile_of(std::vector<double> values, double q) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(measure::quantile_index(values.size(), q));
  std::ranges::nth_element(values, at);
  return *at;
}

Series series_of(const report::Metric& metric) {
  Series series{metric.unit, {}, {}, {}};
  if (metric.histogram) series.counted = metric.summary;
  series.samples.reserve(metric.samples.size());
  series.round.reserve(metric.samples.size());
  series.process.reserve(metric.samples.size());
  for (std::size_t i = 0; i < metric.samples.size(); ++i) {
    if (!metric.samples[i] || metric.outcome[i] != report::Outcome::ok) continue;
    series.samples.push_back(*metric.samples[i]);
    series.round.push_back(metric.round[i]);
    series.process.push_back(metric.process[i]);
  }
  return series;
}

std::uint64_t count_of(const Series& series) {
  return series.counted ? series.counted->count : series.samples.size();
}

double quantile_of(const Series& series, double q) {
  if (!series.counted) return quantile_of(series.samples, q);
  const measure::Summary& all = *series.counted;
  const std::array<std::pair<double, const std::optional<double>*>, 4> known{
      {{0.50, &all.p50}, {0.90, &all.p90}, {0.95, &all.p95}, {0.99, &all.p99}}};
  const auto distance = [q](const auto& entry) { return std::abs(entry.first - q); };
  return std::ranges::min_element(known, {}, distance)->second->value();
}

std::optional<Series> in_unit(Series series, std::string_view unit) {
  const auto factor = unit_factor(series.unit, unit);
  if (!factor) return std::nullopt;
  if (*factor != 1) {
    for (double& sample : series.samples) sample *= *factor;
    if (series.counted) scale(*series.counted, *factor);
  }
  series.unit = std::string(unit);
  return series;
}

}  // namespace tare::verdict
