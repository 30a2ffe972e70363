#include "lab/measure/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "lab/measure/binomial.hpp"
#include "lab/measure/random.hpp"

namespace tare::measure {
namespace {

std::vector<double> one_to(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Quantile, is_the_nearest_rank_of_the_sorted_samples) {
  EXPECT_EQ(quantile_of_sorted(one_to(100), 0.50), 50);
  EXPECT_EQ(quantile_of_sorted(one_to(100), 0.95), 95);
  EXPECT_EQ(quantile_of_sorted(one_to(100), 0.99), 99);
  EXPECT_EQ(quantile_of_sorted(one_to(101), 0.99), 100);
  EXPECT_EQ(quantile_of_sorted(one_to(5), 0.5), 3);
  EXPECT_EQ(quantile_of_sorted(one_to(4), 0.5), 2);
  EXPECT_EQ(quantile_of_sorted(one_to(1), 0.99), 1);
  EXPECT_EQ(quantile_of_sorted(one_to(3), 0), 1);
  EXPECT_EQ(quantile_of_sorted(one_to(3), 1), 3);
}

TEST(Quantile, rank_is_not_pushed_up_by_the_rounding_of_a_product) {
  for (std::size_t n = 100; n <= 1'000'000; n *= 10) {
    for (std::size_t percent = 1; percent <= 100; ++percent) {
      ASSERT_EQ(quantile_index(n, static_cast<double>(percent) / 100), n / 100 * percent - 1)
          << n << " " << percent;
    }
  }
}

TEST(Quantile, p99_needs_a_hundred_samples) {
  EXPECT_EQ(smallest_n(0.5), 1u);
  EXPECT_EQ(smallest_n(0.9), 10u);
  EXPECT_EQ(smallest_n(0.95), 20u);
  EXPECT_EQ(smallest_n(0.99), 100u);
  EXPECT_EQ(smallest_n(0.999), 1000u);
  EXPECT_FALSE(quantile_if_carried(one_to(99), 0.99));
  EXPECT_EQ(quantile_if_carried(one_to(100), 0.99), 99);
  EXPECT_EQ(not_carried(0.99), "n/a (n<100)");
}

TEST(Quantile, quantiles_never_cross_and_stay_between_the_extremes_at_any_n) {
  for (std::size_t n = 1; n <= 500; ++n) {
    const auto values = one_to(n);
    double previous = values.front();
    for (const double q : {0.0, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
      const double value = quantile_of_sorted(values, q);
      ASSERT_LE(previous, value) << n << " " << q;
      previous = value;
    }
    ASSERT_EQ(previous, values.back());
  }
}

TEST(QuantileInterval, smallest_n_comes_out_of_the_binomial) {
  EXPECT_EQ(smallest_n_for_interval(0.50), 6u);
  EXPECT_EQ(smallest_n_for_interval(0.90), 36u);
  EXPECT_EQ(smallest_n_for_interval(0.95), 72u);
  EXPECT_EQ(smallest_n_for_interval(0.99), 368u);
  for (const double q : {0.5, 0.9, 0.95, 0.99}) {
    const std::size_t n = smallest_n_for_interval(q);
    for (std::size_t fewer = 0; fewer < n; ++fewer)
      ASSERT_FALSE(quantile_ranks(fewer, q)) << q << " " << fewer;
    for (std::size_t more = n; more < n + 50; ++more)
      ASSERT_TRUE(quantile_ranks(more, q)) << q << " " << more;
  }
}

TEST(QuantileInterval, median_ranks_are_those_of_the_sign_test_tables) {
  // 1-based ranks for a 95 % interval of the median, as printed in tables of the sign test.
  const struct {
    std::size_t n, low, high;
  } table[] = {{6, 1, 6},   {8, 1, 8},   {9, 2, 8},    {10, 2, 9},   {12, 3, 10},  {15, 4, 12},
               {20, 6, 15}, {25, 8, 18}, {30, 10, 21}, {40, 14, 27}, {50, 18, 33}, {100, 40, 61}};
  for (const auto& row : table) {
    const auto ranks = quantile_ranks(row.n, 0.5);
    ASSERT_TRUE(ranks) << row.n;
    EXPECT_EQ(ranks->low + 1, row.low) << row.n;
    EXPECT_EQ(ranks->high + 1, row.high) << row.n;
  }
  EXPECT_NEAR(quantile_ranks(6, 0.5)->coverage, 0.96875, 1e-12);
}

TEST(QuantileInterval, is_the_tightest_whose_tails_are_each_small_enough) {
  for (std::size_t n = 1; n <= 800; n += 7) {
    for (const double q : {0.1, 0.5, 0.9, 0.95, 0.99}) {
      const auto ranks = quantile_ranks(n, q);
      if (!ranks) continue;
      ASSERT_LE(binomial::cdf(ranks->low, n, q), 0.025);
      ASSERT_GT(binomial::cdf(ranks->low + 1, n, q), 0.025);
      ASSERT_LE(binomial::upper_tail(ranks->high + 1, n, q), 0.025);
      ASSERT_GT(binomial::upper_tail(ranks->high, n, q), 0.025);
      ASSERT_GE(ranks->coverage, 0.95 - 1e-12);
      ASSERT_LE(ranks->low, quantile_index(n, q));
      ASSERT_GE(ranks->high, quantile_index(n, q));
    }
  }
}

TEST(QuantileInterval, covers_the_true_quantile_as_often_as_it_says) {
  Random random(11);
  int covered = 0;
  const int runs = 2000;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> values(80);
    for (double& value : values) value = random.uniform();
    std::ranges::sort(values);
    const auto interval = quantile_interval(values, 0.95);
    ASSERT_TRUE(interval);
    covered += (*interval)[0] <= 0.95 && 0.95 <= (*interval)[1];
  }
  // 95 % at least; 2,000 runs scatter by half a percent.
  EXPECT_GE(covered, runs * 94 / 100);
}

TEST(QuantileInterval, ten_million_samples_need_no_loop_over_all_of_them) {
  const auto ranks = quantile_ranks(10'000'000, 0.99);
  ASSERT_TRUE(ranks);
  const double sd = std::sqrt(1e7 * 0.99 * 0.01);
  EXPECT_NEAR(static_cast<double>(ranks->low), 9.9e6 - 1.96 * sd, 3);
  EXPECT_NEAR(static_cast<double>(ranks->high), 9.9e6 + 1.96 * sd, 3);
}

TEST(Quantile, midpoint_mirrors_when_the_samples_are_negated) {
  EXPECT_EQ(midpoint_of_sorted(one_to(4)), 2.5);
  EXPECT_EQ(midpoint_of_sorted(one_to(5)), 3);
  EXPECT_EQ(midpoint_of_sorted(std::vector<double>{-4, -3, -2, -1}), -2.5);
}

}  // namespace
}  // namespace tare::measure
