#include "lab/measure/rank_sum.hpp"

#include <algorithm>
#include <numeric>

namespace tare::measure {

MidRanks mid_ranks(std::span<const double> sorted_a, std::span<const double> sorted_b) {
  MidRanks ranks;
  ranks.twice_each.reserve(sorted_a.size() + sorted_b.size());
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < sorted_a.size() || b < sorted_b.size()) {
    const double value = b == sorted_b.size()   ? sorted_a[a]
                         : a == sorted_a.size() ? sorted_b[b]
                                                : std::min(sorted_a[a], sorted_b[b]);
    const std::size_t before = a + b;
    const std::size_t first_a = a;
    while (a < sorted_a.size() && sorted_a[a] == value) ++a;
    while (b < sorted_b.size() && sorted_b[b] == value) ++b;
    const std::size_t tied = a + b - before;
    // Ranks before+1 .. before+tied; twice their mean is the sum of the first and the last.
    const std::uint64_t twice = 2 * before + tied + 1;
    ranks.twice_each.insert(ranks.twice_each.end(), tied, twice);
    ranks.twice_sum_a += twice * (a - first_a);
    const auto t = static_cast<double>(tied);
    ranks.tie_correction += t * t * t - t;
  }
  return ranks;
}

std::vector<double> rank_sum_distribution(std::span<const std::uint64_t> numbers, std::size_t n) {
  // The n largest numbers bound every sum.
  std::vector<std::uint64_t> ascending(numbers.begin(), numbers.end());
  std::ranges::sort(ascending);
  const auto largest =
      std::accumulate(ascending.end() - static_cast<std::ptrdiff_t>(n), ascending.end(), std::uint64_t{0});
  const std::size_t width = static_cast<std::size_t>(largest) + 1;
  // chosen[k][s]: the probability that the first numbers contribute k chosen ones of sum s. The j-th number
  // is drawn with probability (n−k)/(N−j), which keeps every entry a probability.
  std::vector<std::vector<double>> chosen(n + 1, std::vector<double>(width));
  chosen[0][0] = 1;
  std::vector<std::uint64_t> reach(n + 1);  // the largest sum of k chosen so far
  for (std::size_t j = 0; j < ascending.size(); ++j) {
    const auto left = static_cast<double>(ascending.size() - j);
    const auto number = static_cast<std::size_t>(ascending[j]);
    for (std::size_t k = std::min(j, n) + 1; k-- > 0;) {
      const double drawn = static_cast<double>(n - k) / left;
      // More numbers left to draw than there are: unreachable, and its mass is zero already.
      if (drawn > 1) continue;
      const auto limit = static_cast<std::size_t>(reach[k]);
      if (k < n) {
        for (std::size_t s = 0; s <= limit; ++s) chosen[k + 1][s + number] += chosen[k][s] * drawn;
        reach[k + 1] = std::max(reach[k + 1], reach[k] + ascending[j]);
      }
      for (std::size_t s = 0; s <= limit; ++s) chosen[k][s] *= 1 - drawn;
    }
  }
  return std::move(chosen[n]);
}

std::vector<double> u_distribution(std::size_t n, std::size_t m) {
  std::vector<std::uint64_t> ranks(n + m);
  std::iota(ranks.begin(), ranks.end(), std::uint64_t{1});
  std::vector<double> sums = rank_sum_distribution(ranks, n);
  sums.erase(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(n * (n + 1) / 2));
  return sums;
}

}  // namespace tare::measure
