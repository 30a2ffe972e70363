#include "lab/measure/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "lab/measure/binomial.hpp"

namespace tare::measure {
namespace {

/// `x`, or the whole number that it misses by no more than the rounding of one product.
double snap(double x) {
  const double whole = std::round(x);
  return std::abs(x - whole) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(x) ? whole : x;
}

}  // namespace

std::size_t quantile_index(std::size_t n, double q) {
  const double rank = std::ceil(snap(q * static_cast<double>(n)));
  if (!(rank >= 1)) return 0;
  return std::min(static_cast<std::size_t>(rank), n) - 1;
}

double quantile_of_sorted(std::span<const double> sorted, double q) {
  return sorted[quantile_index(sorted.size(), q)];
}

std::optional<double> quantile_if_carried(std::span<const double> sorted, double q) {
  if (sorted.size() < smallest_n(q)) return std::nullopt;
  return quantile_of_sorted(sorted, q);
}

std::size_t smallest_n(double q) {
  if (q <= 0.5 || q >= 1) return 1;
  // 1 − 0.9 is not a tenth in binary: the nearest whole number is what was meant.
  const double n = 1 / (1 - q);
  const double whole = std::round(n);
  return static_cast<std::size_t>(std::abs(n - whole) < 1e-9 * n ? whole : std::ceil(n));
}

std::string not_carried(double q) {
  return fmt::format("n/a (n<{})", smallest_n(q));
}

std::optional<RankInterval> quantile_ranks(std::size_t n, double q, double confidence) {
  if (n == 0 || !(q > 0) || !(q < 1)) return std::nullopt;
  const double tail = (1 - confidence) / 2;
  // With B ~ Bin(n, q) samples at or below the quantile, the sample of 0-based rank r lies above it when
  // B ≤ r, and below it when B ≥ r + 1.
  if (binomial::cdf(0, n, q) > tail || binomial::upper_tail(n, n, q) > tail) return std::nullopt;
  const std::size_t point = quantile_index(n, q);
  std::size_t low = 0;
  for (std::size_t above = point + 1; above - low > 1;) {
    const std::size_t middle = low + (above - low) / 2;
    (binomial::cdf(middle, n, q) <= tail ? low : above) = middle;
  }
  std::size_t high = n - 1;
  if (point == high || binomial::upper_tail(point + 1, n, q) <= tail) {
    high = point;
  } else {
    for (std::size_t below = point; high - below > 1;) {
      const std::size_t middle = below + (high - below) / 2;
      (binomial::upper_tail(middle + 1, n, q) <= tail ? high : below) = middle;
    }
  }
  return RankInterval{low, high, 1 - binomial::cdf(low, n, q) - binomial::upper_tail(high + 1, n, q)};
}

std::optional<Interval> quantile_interval(std::span<const double> sorted, double q, double confidence) {
  const auto ranks = quantile_ranks(sorted.size(), q, confidence);
  if (!ranks) return std::nullopt;
  return Interval{sorted[ranks->low], sorted[ranks->high]};
}

std::size_t smallest_n_for_interval(double q, double confidence) {
  // Both extremes must be passed with at most the tail's probability: max(q, 1−q)^n ≤ tail.
  const double tail = (1 - confidence) / 2;
  auto n = static_cast<std::size_t>(std::max(1.0, std::floor(std::log(tail) / std::log(std::max(q, 1 - q)))));
  while (!quantile_ranks(n, q, confidence)) ++n;
  return n;
}

double midpoint_of_sorted(std::span<const double> sorted) {
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : std::midpoint(sorted[n / 2 - 1], sorted[n / 2]);
}

}  // namespace tare::measure
