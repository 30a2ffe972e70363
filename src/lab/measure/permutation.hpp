#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tare::measure {

inline constexpr std::size_t default_permutations = 9999;

/// Two-sided p of the hypothesis that both samples come from one distribution, against a difference of
/// their quantile `q`: (hits + 1)/(N + 1) over N random relabellings (B. Phipson, G. Smyth, 2010), never 0.
/// The same seed gives the same p. Nothing when a side is smaller than `smallest_n(q)`. After one sort a
/// relabelling costs about (1−q) of the samples.
std::optional<double> quantile_permutation_test(std::span<const double> a, std::span<const double> b,
                                                double q, std::uint64_t seed,
                                                std::size_t permutations = default_permutations);

/// The same hypothesis when samples come in processes and those of one process depend on each other: whole
/// processes are relabelled, the statistic is the quantile of all samples of a side. Every relabelling is
/// tried once when there are at most `permutations` of them (p is then exact), else so many random ones.
/// Nothing when a side has no process, or a side's samples do not carry the quantile.
std::optional<double> process_permutation_test(const std::vector<std::vector<double>>& a,
                                               const std::vector<std::vector<double>>& b, double q,
                                               std::uint64_t seed,
                                               std::size_t permutations = default_permutations);

/// The same hypothesis when samples are paired: in each pair the two may be swapped. The statistic is the
/// difference of the quantiles; nothing when the sides do not carry it. Throws Error(failed) when they are
/// not equally long.
std::optional<double> paired_permutation_test(std::span<const double> a, std::span<const double> b, double q,
                                              std::uint64_t seed,
                                              std::size_t permutations = default_permutations);

}  // namespace tare::measure
