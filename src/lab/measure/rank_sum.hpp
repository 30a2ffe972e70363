#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The exact distributions behind the rank tests of ranks.hpp.
namespace tare::measure {

/// Ranks of two sides in their union. Tied samples share the mean of their ranks, which is a multiple of a
/// half: everything is held twice, as whole numbers.
struct MidRanks {
  std::vector<std::uint64_t> twice_each;  ///< of all samples, ascending
  std::uint64_t twice_sum_a = 0;          ///< over the first side
  double tie_correction = 0;              ///< Σ(t³ − t) over the groups of t tied samples
};

/// Of ascending sides.
MidRanks mid_ranks(std::span<const double> sorted_a, std::span<const double> sorted_b);

/// Probability of each sum when `n` of the given numbers are drawn, all choices being equally likely. Only
/// additions of positive terms, scaled on the way, so any size is stable; time is numbers × n × largest sum.
std::vector<double> rank_sum_distribution(std::span<const std::uint64_t> numbers, std::size_t n);

/// Probability of each U = 0..n·m without ties.
std::vector<double> u_distribution(std::size_t n, std::size_t m);

}  // namespace tare::measure
