#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/describe.hpp>

#include "lab/measure/histogram.hpp"
#include "lab/measure/outliers.hpp"
#include "lab/measure/quantile.hpp"

namespace tare::measure {

/// What a set of samples says, in their unit. Always min ≤ p50 ≤ p90 ≤ p95 ≤ p99 ≤ max. A figure that the
/// samples do not carry is empty, and a note says why.
struct Summary {
  std::uint64_t count = 0;
  std::optional<double> min;
  std::optional<double> mean;
  std::optional<double> stddev;  ///< of the population
  std::optional<double> p50;     ///< nearest rank on the raw samples, as are the others
  std::optional<double> p90;
  std::optional<double> p95;
  std::optional<double> p99;
  std::optional<double> max;
  std::optional<Interval> p50_interval;  ///< order statistics, at least 95 %
  std::optional<Interval> p90_interval;
  std::optional<Interval> p95_interval;
  std::optional<Interval> p99_interval;
  std::optional<double> lag1;
  std::optional<double> effective_n;
  std::optional<Outliers> outliers;
  std::uint64_t below_resolution = 0;  ///< samples ≤ 0: the clock saw no time pass. Counted in all figures
  std::vector<std::string> notes;
};
BOOST_DESCRIBE_STRUCT(Summary, (),
                      (count, min, mean, stddev, p50, p90, p95, p99, max, p50_interval, p90_interval,
                       p95_interval, p99_interval, lag1, effective_n, outliers, below_resolution, notes))

/// Summarises samples given in the order in which they were taken. Sorts in its own copy; move a large
/// vector in to save the copy. Ten million samples take about half a second.
/// Throws Error(failed) when a sample is not finite.
Summary summarise(std::vector<double> samples);
Summary summarise(std::span<const double> samples);

/// The same of samples that a histogram counts, in a unit of so many nanoseconds: figures are as exact as its
/// buckets, and lag-1 and effective n, which need the order, are empty. `kept` is how many of the samples are
/// kept beside it. The notes say all of that.
Summary summarise(const Histogram& histogram, double unit_ns, std::uint64_t kept);

}  // namespace tare::measure
