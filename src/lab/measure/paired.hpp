#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/measure/quantile.hpp"

namespace tare::measure {

/// One lane against another. `ratio` is subject ÷ reference, `difference` subject − reference in the unit
/// of the samples. A figure that the data do not carry is empty and a note says why.
struct Comparison {
  std::uint64_t pairs = 0;     ///< rounds that the difference rests on (per-side size: see the function)
  std::uint64_t excluded = 0;  ///< pairs with a sample ≤ 0: they have a difference but no ratio
  std::optional<double> ratio;
  std::optional<Interval> ratio_interval;
  std::optional<double> difference;
  std::optional<Interval> difference_interval;
  std::optional<double> coverage;  ///< of the ratio's interval, 0.95 or a little more
  std::string method;              ///< how it was computed, for the report
  std::vector<std::string> notes;
};

/// Compares round by round: `subject[i]` and `reference[i]` were taken in the same round, so that a drift
/// of the machine is in both. The ratio is exp of the median log-ratio, the difference the median of the
/// differences (the mean of the middle two when their number is even). Both intervals are those of the sign
/// test: order statistics, exact, at least 95 %, from 6 pairs on. Swapping the lanes gives exactly mirrored
/// results up to rounding. Throws Error(failed) when the series are not equally long.
Comparison compare_paired(std::span<const double> subject, std::span<const double> reference);

/// Two-sided p of the sign test: that the median of these differences is 0. Zeros say nothing and are left
/// out (W. Dixon, A. Mood, 1946). 1 when nothing is left.
double sign_test(std::span<const double> differences);

}  // namespace tare::measure
