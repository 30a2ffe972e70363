#pragma once

#include <cstdint>
#include <span>

namespace tare::measure {

/// The `k`-th smallest (from 0) of all differences a[i] − b[j] of ascending, finite sides, without making
/// them: bisects over the doubles themselves and counts in linear time. Exact to the last bit.
double select_difference(std::span<const double> sorted_a, std::span<const double> sorted_b, std::uint64_t k);

}  // namespace tare::measure
