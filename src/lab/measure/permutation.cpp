#include "lab/measure/permutation.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/measure/quantile.hpp"
#include "lab/measure/random.hpp"

namespace tare::measure {
namespace {

/// Deals a random label to each pooled sample, from the largest down, until both quantiles are known: drawing
/// a label with the odds of the labels left is the same as shuffling all of them first.
double relabelled_difference(std::span<const double> pooled, std::size_t size_a, double q, Random& random) {
  const std::size_t size_b = pooled.size() - size_a;
  // How many samples of a side are at or above its quantile.
  std::size_t to_find_a = size_a - quantile_index(size_a, q);
  std::size_t to_find_b = size_b - quantile_index(size_b, q);
  std::size_t left_a = size_a;
  double quantile_a = 0;
  double quantile_b = 0;
  for (std::size_t left = pooled.size(); to_find_a > 0 || to_find_b > 0; --left) {
    const double value = pooled[left - 1];
    if (random.below(left) < left_a) {
      --left_a;
      if (to_find_a > 0 && --to_find_a == 0) quantile_a = value;
    } else {
      if (to_find_b > 0 && --to_find_b == 0) quantile_b = value;
    }
  }
  return std::abs(quantile_a - quantile_b);
}

double quantile_of(std::span<const double> samples, double q) {
  std::vector<double> values(samples.begin(), samples.end());
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(quantile_index(values.size(), q));
  std::ranges::nth_element(values, at);
  return *at;
}

}  // namespace

std::optional<double> quantile_permutation_test(std::span<const double> a, std::span<const double> b,
                                                double q, std::uint64_t seed, std::size_t permutations) {
  if (std::min(a.size(), b.size()) < smallest_n(q)) return std::nullopt;
  const double observed = std::abs(quantile_of(a, q) - quantile_of(b, q));
  std::vector<double> pooled(a.begin(), a.end());
  pooled.insert(pooled.end(), b.begin(), b.end());
  std::ranges::sort(pooled);
  Random random(seed);
  std::size_t hits = 0;
  for (std::size_t run = 0; run < permutations; ++run) {
    hits += relabelled_difference(pooled, a.size(), q, random) >= observed;
  }
  return static_cast<double>(hits + 1) / static_cast<double>(permutations + 1);
}

}  // namespace tare::measure
