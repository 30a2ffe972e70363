#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace tare::measure {

/// Both ends belong to it. In JSON: [low, high].
using Interval = std::array<double, 2>;

/// How reports name the quantile used here.
inline constexpr const char* quantile_definition = "nearest rank on the sorted raw samples: x[ceil(q*n)]";

/// 0-based index of quantile `q` (0..1) in `n` ≥ 1 sorted samples: ceil(q·n) − 1, clamped to 0..n−1.
/// q·n that misses a whole number only by rounding counts as that number (0.07·100 is 7).
std::size_t quantile_index(std::size_t n, double q);

/// The quantile of ascending samples: always one of them, never interpolated. `sorted` is not empty.
double quantile_of_sorted(std::span<const double> sorted, double q);

/// The quantile, or nothing when fewer than `smallest_n(q)` samples carry it.
std::optional<double> quantile_if_carried(std::span<const double> sorted, double q);

/// Below this many samples the quantile is not printed: 1 for p50, 10 for p90, 20 for p95, 100 for p99;
/// one sample beyond the quantile is the least that tells it from the maximum (1/(1−q)).
std::size_t smallest_n(double q);

/// "n/a (n<100)"
std::string not_carried(double q);

/// 0-based indices of the order statistics that enclose a quantile.
struct RankInterval {
  std::size_t low;
  std::size_t high;
  double coverage;  ///< the exact coverage, at least what was asked for
  bool operator==(const RankInterval&) const = default;
};

/// Distribution-free interval of quantile `q` from `n` samples (H. A. David, "Order Statistics", 2.7):
/// each end is passed with a probability of at most (1−confidence)/2, by the exact binomial. Nothing when
/// even the extremes do not reach that. The quantile of `quantile_index` always lies inside.
std::optional<RankInterval> quantile_ranks(std::size_t n, double q, double confidence = 0.95);

/// The same as values of ascending samples.
std::optional<Interval> quantile_interval(std::span<const double> sorted, double q, double confidence = 0.95);

/// Smallest n for which `quantile_ranks` is not empty: 6 for p50, 36 for p90, 72 for p95, 368 for p99.
std::size_t smallest_n_for_interval(double q, double confidence = 0.95);

/// The middle of ascending samples, or the mean of the middle two. `sorted` is not empty.
/// Used where a statistic must mirror when its inputs are swapped; the p50 of a report is a quantile.
double midpoint_of_sorted(std::span<const double> sorted);

}  // namespace tare::measure
