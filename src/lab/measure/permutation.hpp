#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tare::measure {

inline constexpr std::size_t default_permutations = 9999;

/// Two-sided p of the hypothesis that both samples come from one distribution, against a difference of
/// their quantile `q`: (hits + 1)/(N + 1) over N random relabellings (B. Phipson, G. Smyth, 2010), never 0.
/// The same seed gives the same p. Nothing when a side is smaller than `smallest_n(q)`. After one sort a
/// relabelling costs about (1−q) of the samples.
std::optional<double> quantile_permutation_test(std::span<const double> a, std::span<const double> b,
                                                double q, std::uint64_t seed,
                                                std::size_t permutations = default_permutations);

}  // namespace tare::measure
