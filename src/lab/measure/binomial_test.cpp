#include "lab/measure/binomial.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace tare::measure::binomial {
namespace {

/// C(n, k) by Pascal's rule: exact in a double while it stays below 2^53.
double choose(unsigned n, unsigned k) {
  double result = 1;
  for (unsigned i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

TEST(Binomial, agrees_with_enumeration_up_to_forty_trials) {
  for (unsigned n = 1; n <= 40; ++n) {
    for (const double p : {0.01, 0.1, 0.25, 0.5, 0.9, 0.95, 0.99}) {
      double below = 0;
      for (unsigned k = 0; k <= n; ++k) {
        const double exact = choose(n, k) * std::pow(p, k) * std::pow(1 - p, n - k);
        below += exact;
        ASSERT_NEAR(pmf(k, n, p) / exact, 1, 1e-11) << n << " " << k << " " << p;
        ASSERT_NEAR(cdf(k, n, p), below, 1e-12) << n << " " << k << " " << p;
        ASSERT_NEAR(upper_tail(k, n, p), 1 - below + exact, 1e-12) << n << " " << k << " " << p;
      }
    }
  }
}

TEST(Binomial, small_tails_keep_their_relative_accuracy) {
  EXPECT_NEAR(cdf(0, 100, 0.5) / std::pow(0.5, 100), 1, 1e-12);
  EXPECT_NEAR(cdf(1, 100, 0.5) / (101 * std::pow(0.5, 100)), 1, 1e-12);
  EXPECT_NEAR(upper_tail(99, 100, 0.5) / (101 * std::pow(0.5, 100)), 1, 1e-12);
}

TEST(Binomial, certain_outcomes_and_empty_experiments_are_exact) {
  EXPECT_EQ(pmf(0, 0, 0.5), 1);
  EXPECT_EQ(cdf(0, 0, 0.5), 1);
  EXPECT_EQ(pmf(3, 2, 0.5), 0);
  EXPECT_EQ(pmf(0, 5, 0), 1);
  EXPECT_EQ(pmf(5, 5, 1), 1);
  EXPECT_EQ(cdf(4, 5, 1), 0);
  EXPECT_EQ(upper_tail(1, 5, 0), 0);
  EXPECT_EQ(upper_tail(6, 5, 0.5), 0);
}

TEST(Binomial, ten_million_trials_are_symmetric_and_sum_to_one) {
  const std::uint64_t n = 10'000'000;
  EXPECT_NEAR(cdf(n / 2, n, 0.5) + upper_tail(n / 2 + 1, n, 0.5), 1, 1e-10);
  EXPECT_NEAR(cdf(n / 2 - 3000, n, 0.5) / upper_tail(n / 2 + 3000, n, 0.5), 1, 1e-9);
  // Far from the edges the distribution is normal: 1.96 standard deviations leave 2.5 % below.
  const double sd = std::sqrt(n * 0.99 * 0.01);
  EXPECT_NEAR(cdf(static_cast<std::uint64_t>(n * 0.99 - 1.96 * sd), n, 0.99), 0.025, 2e-4);
}

}  // namespace
}  // namespace tare::measure::binomial
