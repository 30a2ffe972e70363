#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tare::measure {

/// How two lanes stand to each other.
enum class Pairing {
  paired,    ///< they took turns in the same rounds
  unpaired,  ///< they ran at different times
};

/// The smallest change that a comparison can tell from none: the 95th percentile of |ratio − 1| between a
/// target and itself. `first[i]` and `second[i]` are the medians of two equal lanes that shared their rounds,
/// each i with fresh processes. With one process a side and pairs it is just that percentile of the pairs;
/// else the comparison is played 2,000 times with `processes` medians a side, drawn from those at hand.
/// Nothing below 6 pairs, or when a median is ≤ 0. Throws Error(failed) when the sides are not equally long.
std::optional<double> minimum_detectable(std::span<const double> first, std::span<const double> second,
                                         Pairing pairing, std::uint64_t processes, std::uint64_t seed = 42);

}  // namespace tare::measure
