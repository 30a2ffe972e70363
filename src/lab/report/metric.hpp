#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lab/report/document.hpp"

/// What follows from the samples of a metric.
namespace tare::report {

/// The good samples of a metric, in the order in which they were taken; of one with a histogram only those
/// that were kept.
std::vector<double> good_values(const Metric& metric);

/// The good sample of a 0-based rank among all `summary.count`, ascending: of the histogram if it has one.
double good_value_at(const Metric& metric, std::uint64_t rank);

/// The summary of a metric: of its histogram if it has one, else of its good samples. Throws Error(input) for
/// a histogram that contradicts itself or is not of times, Error(failed) when a sample is not finite.
measure::Summary summary_of(const Metric& metric);

}  // namespace tare::report
