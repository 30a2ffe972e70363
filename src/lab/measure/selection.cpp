#include "lab/measure/selection.hpp"

#include <bit>

namespace tare::measure {
namespace {

constexpr std::uint64_t sign = std::uint64_t{1} << 63;

/// Doubles in their order as whole numbers, so that halving an interval of them ends after 64 steps.
std::uint64_t to_ordered(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

double from_ordered(std::uint64_t ordered) {
  return std::bit_cast<double>((ordered & sign) != 0 ? ordered & ~sign : ~ordered);
}

/// Pairs with a − b ≤ limit. Rounding is monotonic, so the boundary in b only moves up as a grows.
std::uint64_t count_up_to(std::span<const double> a, std::span<const double> b, double limit) {
  std::uint64_t count = 0;
  std::size_t first = 0;  // the first b that is large enough
  for (const double value : a) {
    while (first < b.size() && value - b[first] > limit) ++first;
    count += b.size() - first;
  }
  return count;
}

}  // namespace

double select_difference(std::span<const double> sorted_a, std::span<const double> sorted_b,
                         std::uint64_t k) {
  std::uint64_t low = to_ordered(sorted_a.front() - sorted_b.back());
  std::uint64_t high = to_ordered(sorted_a.back() - sorted_b.front());
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (count_up_to(sorted_a, sorted_b, from_ordered(middle)) > k) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return from_ordered(low);
}

}  // namespace tare::measure
