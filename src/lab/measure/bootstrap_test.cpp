#include "lab/measure/bootstrap.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/measure/noise_for_tests.hpp"

namespace tare::measure {
namespace {

using testing::Contains;

TEST(QuantileRatio, the_point_is_the_ratio_of_the_quantiles) {
  std::vector<double> a(100), b(100);
  std::iota(a.begin(), a.end(), 1.0);
  std::iota(b.begin(), b.end(), 101.0);
  EXPECT_DOUBLE_EQ(*quantile_ratio_paired(a, b, 0.95, 1).ratio, 95.0 / 195);
  EXPECT_DOUBLE_EQ(*quantile_ratio_unpaired(a, b, 0.95, 1).ratio, 95.0 / 195);
  EXPECT_EQ(quantile_ratio_paired(a, b, 0.95, 1).difference, -100);
}

TEST(QuantileRatio, the_same_seed_gives_the_same_interval) {
  const auto a = noise(200, 1);
  const auto b = noise(200, 2);
  const auto once = quantile_ratio_paired(a, b, 0.95, 7);
  EXPECT_EQ(once.ratio_interval, quantile_ratio_paired(a, b, 0.95, 7).ratio_interval);
  EXPECT_LE((*once.ratio_interval)[0], *once.ratio);
  EXPECT_GE((*once.ratio_interval)[1], *once.ratio);
  EXPECT_LT((*once.ratio_interval)[0], (*once.ratio_interval)[1]);
}

TEST(QuantileRatio, rounds_stay_together_when_paired) {
  // Every round is 10 % slower on one lane, whatever the round: pairing leaves no doubt about it.
  const auto reference = noise(200, 3);
  std::vector<double> subject;
  for (const double sample : reference) subject.push_back(sample * 1.1);
  const auto paired = *quantile_ratio_paired(subject, reference, 0.95, 1).ratio_interval;
  EXPECT_NEAR(paired[0], 1.1, 1e-12);
  EXPECT_NEAR(paired[1], 1.1, 1e-12);
  const auto unpaired = *quantile_ratio_unpaired(subject, reference, 0.95, 1).ratio_interval;
  EXPECT_LT(unpaired[0], 1.1 - 1e-6);
  EXPECT_GT(unpaired[1], 1.1 + 1e-6);
}

TEST(QuantileRatio, covers_the_truth_about_as_often_as_it_says) {
  int covered = 0;
  const int runs = 100;
  for (int run = 0; run < runs; ++run) {
    const auto seed = static_cast<std::uint64_t>(run);
    const auto interval =
        *quantile_ratio_unpaired(noise(150, 2 * seed, 2), noise(150, 2 * seed + 1), 0.95, seed, 200)
             .ratio_interval;
    covered += interval[0] <= 2 && 2 <= interval[1];
  }
  EXPECT_GE(covered, runs * 88 / 100);
}

TEST(QuantileRatio, few_samples_carry_no_interval_and_fewer_no_point) {
  EXPECT_FALSE(quantile_ratio_paired(noise(19, 1), noise(19, 2), 0.95, 1).ratio);
  EXPECT_THAT(quantile_ratio_paired(noise(19, 1), noise(19, 2), 0.95, 1).notes, Contains("n/a (n<20)"));
  const auto some = quantile_ratio_paired(noise(71, 1), noise(71, 2), 0.95, 1);
  EXPECT_TRUE(some.ratio);
  EXPECT_FALSE(some.ratio_interval);
  EXPECT_THAT(some.notes, Contains("interval n/a (n<72)"));
  EXPECT_TRUE(quantile_ratio_paired(noise(72, 1), noise(72, 2), 0.95, 1).ratio_interval);
  EXPECT_FALSE(quantile_ratio_unpaired({}, {}, 0.95, 1).ratio);
}

TEST(QuantileRatio, a_quantile_below_resolution_has_no_ratio) {
  const std::vector<double> zeros(100, 0.0);
  const auto result = quantile_ratio_unpaired(noise(100, 1), zeros, 0.95, 1, 100);
  EXPECT_FALSE(result.ratio);
  EXPECT_FALSE(result.ratio_interval);
  EXPECT_TRUE(result.difference_interval);
}

TEST(QuantileRatio, lanes_of_different_length_are_refused_only_when_paired) {
  EXPECT_THROW(quantile_ratio_paired(noise(100, 1), noise(99, 1), 0.95, 1), Error);
  EXPECT_EQ(quantile_ratio_unpaired(noise(100, 1), noise(90, 1), 0.95, 1).pairs, 90u);
}

}  // namespace
}  // namespace tare::measure
