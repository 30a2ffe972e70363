#include "lab/report/metric.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tare::report {
namespace {

/// Nothing for a unit that is not one of time.
std::optional<double> nanoseconds_in(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "us" || unit == "µs") return 1e3;
  if (unit == "ms") return 1e6;
  if (unit == "s") return 1e9;
  return std::nullopt;
}

}  // namespace

std::vector<double> good_values(const Metric& metric) {
  std::vector<double> good;
  good.reserve(metric.samples.size());
  for (std::size_t i = 0; i < metric.samples.size(); ++i) {
    if (metric.samples[i] && metric.outcome[i] == Outcome::ok) good.push_back(*metric.samples[i]);
  }
  return good;
}

double good_value_at(const Metric& metric, std::uint64_t rank) {
  if (metric.histogram) {
    const auto ns = measure::Histogram::from(*metric.histogram).at_rank(rank);
    return static_cast<double>(ns.value().count()) / nanoseconds_in(metric.unit).value();
  }
  std::vector<double> good = good_values(metric);
  const auto at = good.begin() + static_cast<std::ptrdiff_t>(rank);
  std::ranges::nth_element(good, at);
  return *at;
}

measure::Summary summary_of(const Metric& metric) {
  std::vector<double> good = good_values(metric);
  if (!metric.histogram) return measure::summarise(std::move(good));
  const auto unit = nanoseconds_in(metric.unit);
  if (!unit)
    throw Error(ErrorCode::input, "not a histogram", fmt::format("'{}' is no unit of time", metric.unit));
  return measure::summarise(measure::Histogram::from(*metric.histogram), *unit, good.size());
}

}  // namespace tare::report
