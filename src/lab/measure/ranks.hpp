#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/measure/quantile.hpp"

namespace tare::measure {

enum class RankMethod {
  automatic,  ///< exact up to 50 samples a side, normal beyond
  exact,
  normal,
};

struct MannWhitney {
  double u;  ///< pairs in which the first side is larger, ties counting one half
  double p;  ///< two-sided
  RankMethod method;
};

/// Whether two samples come from one distribution, against one being larger (H. B. Mann, D. R. Whitney,
/// 1947). Exact: the permutation distribution of the rank sum by counting, given the ties that there are.
/// Normal: with tie and continuity correction. Nothing when a side is empty. Memory is linear.
std::optional<MannWhitney> mann_whitney(std::span<const double> a, std::span<const double> b,
                                        RankMethod method = RankMethod::automatic);

/// Whether an exact test of sides so large can fall to `alpha` at all: at 0.05 from four a side.
bool can_decide(std::size_t a, std::size_t b, double alpha = 0.05);

/// How far the first side lies above the second: the median of all pairwise differences (J. L. Hodges,
/// E. L. Lehmann, 1963), and its interval from the Mann-Whitney distribution, at least 95 % when exact.
struct Shift {
  double shift;
  std::optional<Interval> interval;  ///< nothing when even the extremes do not reach the confidence
};

/// Nothing when a side is empty. Finds the differences it needs by bisection over sorted sides: linear
/// memory, about 64·(n+m) steps each, so millions of samples a side are fine.
std::optional<Shift> hodges_lehmann(std::span<const double> a, std::span<const double> b,
                                    double confidence = 0.95);

/// Cliff's δ: P(a > b) − P(a < b), −1..1 (N. Cliff, 1993). Nothing when a side is empty.
std::optional<double> cliffs_delta(std::span<const double> a, std::span<const double> b);

/// A run against a baseline, value by value without pairs.
struct Unpaired {
  std::size_t n = 0;
  std::size_t reference_n = 0;
  std::optional<double> p;           ///< Mann-Whitney
  std::optional<double> shift;       ///< Hodges-Lehmann, in the unit of the samples
  std::optional<Interval> interval;  ///< of the shift
  std::optional<double> ratio;       ///< exp of the shift of logarithms; nothing when a sample is ≤ 0
  std::optional<Interval> ratio_interval;
  std::optional<double> delta;  ///< Cliff's
  std::string method;
  std::vector<std::string> notes;
};

/// All of the above for subject against reference. Throws nothing; what cannot be said is empty and noted.
Unpaired compare_unpaired(std::span<const double> subject, std::span<const double> reference);

}  // namespace tare::measure
