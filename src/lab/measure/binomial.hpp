#pragma once

#include <cstdint>

/// The binomial distribution: how many of `n` independent trials succeed, each with probability `p`.
/// Accurate to a relative error near 1e-12 up to n = 10^9; time grows with the standard deviation, not
/// with n. Pure and safe from any thread.
namespace tare::measure::binomial {

/// P(B = k). Zero when k > n. Saddle-point form after C. Loader, "Fast and Accurate Computation of
/// Binomial Probabilities" (2000): no term is larger than the answer's own logarithm, so nothing cancels.
double pmf(std::uint64_t k, std::uint64_t n, double p);

/// P(B ≤ k).
double cdf(std::uint64_t k, std::uint64_t n, double p);

/// P(B ≥ k).
double upper_tail(std::uint64_t k, std::uint64_t n, double p);

}  // namespace tare::measure::binomial
