#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/measure/detectable.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/report/document.hpp"

/// How much one lane differs from another in one metric, and how sure that is: the numbers under every
/// verdict. docs/methodology.md says why they are these.
namespace tare::verdict {

using measure::Interval;
using measure::Pairing;

/// The good samples of a metric: in its unit, in the order taken.
struct Series {
  std::string unit;
  std::vector<double> samples;
  std::vector<std::uint32_t> round;    ///< parallel to `samples`
  std::vector<std::uint32_t> process;  ///< parallel to `samples`
  /// Of a metric that took more samples than it kept: the summary of all of them, in `unit`. The kept ones
  /// are then the first of each process, of which nothing follows.
  std::optional<measure::Summary> counted = {};
};

Series series_of(const report::Metric& metric);

/// How many good samples there were, those that were not kept included.
std::uint64_t count_of(const Series& series);

/// Their quantile, one of those that a summary has. The series is not empty.
double quantile_of(const Series& series, double q);

/// The quantile of values in any order, of which there is at least one.
double quantile_of(std::vector<double> values, double q);

/// `series` in another unit. Nothing when the units measure different things.
std::optional<Series> in_unit(Series series, std::string_view unit);

/// What is put side by side when two lanes are paired.
enum class PairedBy {
  rounds,     ///< of which each has a sample on either side
  processes,  ///< each with the quantile of its own samples
};

struct Question {
  double quantile = 0.5;
  Pairing pairing = Pairing::unpaired;
  /// A change up to this share is none: p and the verdict ask about changes beyond it. 0 and more.
  double tolerance = 0;
  std::uint64_t seed = 42;
  PairedBy paired_by = PairedBy::rounds;
  std::string_view repeat_flag = "--processes";  ///< what measures more processes, for reasons
};

/// A figure that the samples do not carry is empty, and `reason` says why.
struct Effect {
  std::optional<double> base;  ///< the quantile of all samples of each side, in the unit of the base
  std::optional<double> now;
  std::uint64_t base_n = 0;  ///< samples
  std::uint64_t now_n = 0;
  std::uint64_t base_processes = 0;
  std::uint64_t now_processes = 0;
  std::uint64_t pairs =
      0;  ///< what the interval rests on: rounds or processes; of the smaller side if unpaired
  std::optional<double> ratio;  ///< now ÷ base
  std::optional<Interval> interval;
  std::optional<double> difference;  ///< now − base
  std::optional<Interval> difference_interval;
  std::optional<double> delta;  ///< Cliff's δ: above 0 when now is larger
  std::optional<double> p;      ///< two-sided, of a change beyond the tolerance
  std::string method;
  std::optional<std::string> reason;
};

/// Compares now with base, both in one unit. Paired: rounds that both have; from 6 processes on it is the
/// processes that are paired, since samples of one process share what is odd about it (a tail only if each
/// process has enough samples for it). Unpaired: quantiles of processes, at least 4 a side; below that no
/// interval. Where not all samples were kept there is the change, and nothing that tells how sure it is.
Effect effect_of(const Series& base, const Series& now, const Question& question);

}  // namespace tare::verdict
