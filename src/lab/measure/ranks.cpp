#include "lab/measure/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

#include "lab/measure/rank_sum.hpp"
#include "lab/measure/selection.hpp"

namespace tare::measure {
namespace {

constexpr std::size_t largest_exact = 50;

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> values(samples.begin(), samples.end());
  std::ranges::sort(values);
  return values;
}

/// P(|Z| ≥ z) of the standard normal distribution.
double two_sided_normal(double z) {
  return std::erfc(z / std::numbers::sqrt2);
}

double exact_p(const MidRanks& ranks, std::size_t n) {
  const std::vector<double> distribution = rank_sum_distribution(ranks.twice_each, n);
  double below = 0;
  double above = 0;
  for (std::size_t sum = 0; sum < distribution.size(); ++sum) {
    if (sum <= ranks.twice_sum_a) below += distribution[sum];
    if (sum >= ranks.twice_sum_a) above += distribution[sum];
  }
  return std::min(1.0, 2 * std::min(below, above));
}

double normal_p(const MidRanks& ranks, double u, double n, double m) {
  const double total = n + m;
  const double variance = n * m / 12 * (total + 1 - ranks.tie_correction / (total * (total - 1)));
  const double distance = std::abs(u - n * m / 2) - 0.5;
  if (!(variance > 0) || distance <= 0) return 1;
  return two_sided_normal(distance / std::sqrt(variance));
}

/// 0-based index of the pairwise difference that is the lower end of the interval; the upper end mirrors it.
/// Both come from the distribution of U without ties (E. L. Lehmann, "Nonparametrics", 2.5).
std::optional<std::uint64_t> lower_end(std::size_t n, std::size_t m, double tail) {
  const double pairs = static_cast<double>(n) * static_cast<double>(m);
  if (n <= largest_exact && m <= largest_exact) {
    const std::vector<double> distribution = u_distribution(n, m);
    double below = 0;
    std::uint64_t count = 0;
    while (count < distribution.size() && below + distribution[count] <= tail) below += distribution[count++];
    if (count == 0) return std::nullopt;
    return count - 1;
  }
  // 1.96 for 95 %: the root of erfc(z/√2) = 2·tail by bisection.
  double low = 0;
  double high = 40;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (two_sided_normal(middle) > 2 * tail ? low : high) = middle;
  }
  const double deviation = std::sqrt(pairs * (static_cast<double>(n + m) + 1) / 12);
  const double index = std::floor(pairs / 2 - high * deviation - 0.5);
  if (!(index >= 1)) return std::nullopt;
  return static_cast<std::uint64_t>(index) - 1;
}

Shift shift_of_sorted(std::span<const double> a, std::span<const double> b, double confidence) {
  const std::uint64_t pairs = std::uint64_t{a.size()} * b.size();
  const double upper_middle = select_difference(a, b, pairs / 2);
  Shift result{upper_middle, std::nullopt};
  if (pairs % 2 == 0) result.shift = std::midpoint(select_difference(a, b, pairs / 2 - 1), upper_middle);
  if (const auto end = lower_end(a.size(), b.size(), (1 - confidence) / 2)) {
    result.interval = Interval{select_difference(a, b, *end), select_difference(a, b, pairs - 1 - *end)};
  }
  return result;
}

std::vector<double> logarithms(std::vector<double> sorted_positive) {
  for (double& value : sorted_positive) value = std::log(value);
  return sorted_positive;
}

}  // namespace

std::optional<MannWhitney> mann_whitney(std::span<const double> a, std::span<const double> b,
                                        RankMethod method) {
  if (a.empty() || b.empty()) return std::nullopt;
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  const MidRanks ranks = mid_ranks(sorted(a), sorted(b));
  const double u = ranks.twice_sum_a / 2.0 - n * (n + 1) / 2;
  if (method == RankMethod::automatic) {
    method = std::max(a.size(), b.size()) <= largest_exact ? RankMethod::exact : RankMethod::normal;
  }
  const double p = method == RankMethod::exact ? exact_p(ranks, a.size()) : normal_p(ranks, u, n, m);
  return MannWhitney{u, p, method};
}

bool can_decide(std::size_t a, std::size_t b, double alpha) {
  // The most extreme of all choices of `a` among `a + b`, on two sides. Choices only grow, so stop early.
  double choices = 1;
  for (std::size_t i = 1; i <= std::min(a, b); ++i) {
    choices *= static_cast<double>(a + b - std::min(a, b) + i) / static_cast<double>(i);
    if (2 / choices <= alpha) return true;
  }
  return false;
}

std::optional<Shift> hodges_lehmann(std::span<const double> a, std::span<const double> b, double confidence) {
  if (a.empty() || b.empty()) return std::nullopt;
  return shift_of_sorted(sorted(a), sorted(b), confidence);
}

std::optional<double> cliffs_delta(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return std::nullopt;
  const auto x = sorted(a);
  const auto y = sorted(b);
  double balance = 0;
  std::size_t below = 0;
  std::size_t not_above = 0;
  for (const double value : x) {
    while (below < y.size() && y[below] < value) ++below;
    while (not_above < y.size() && y[not_above] <= value) ++not_above;
    balance += static_cast<double>(below) - static_cast<double>(y.size() - not_above);
  }
  return balance / (static_cast<double>(x.size()) * static_cast<double>(y.size()));
}

Unpaired compare_unpaired(std::span<const double> subject, std::span<const double> reference) {
  Unpaired result;
  result.n = subject.size();
  result.reference_n = reference.size();
  const auto test = mann_whitney(subject, reference);
  if (!test) {
    result.notes.emplace_back("a side has no samples");
    return result;
  }
  result.p = test->p;
  result.method = fmt::format("Mann-Whitney ({}), Hodges-Lehmann shift",
                              test->method == RankMethod::exact ? "exact" : "normal approximation");
  result.delta = cliffs_delta(subject, reference);
  const auto a = sorted(subject);
  const auto b = sorted(reference);
  const Shift shift = shift_of_sorted(a, b, 0.95);
  result.shift = shift.shift;
  result.interval = shift.interval;
  if (!shift.interval) result.notes.emplace_back("interval n/a (fewer than 4 samples a side)");
  if (a.front() > 0 && b.front() > 0) {
    const Shift log_shift = shift_of_sorted(logarithms(a), logarithms(b), 0.95);
    result.ratio = std::exp(log_shift.shift);
    if (log_shift.interval) {
      result.ratio_interval =
          Interval{std::exp((*log_shift.interval)[0]), std::exp((*log_shift.interval)[1])};
    }
  } else {
    result.notes.emplace_back("ratio n/a: a sample is below clock resolution (≤ 0)");
  }
  return result;
}

}  // namespace tare::measure
