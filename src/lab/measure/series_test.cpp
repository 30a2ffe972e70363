#include "lab/measure/series.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "lab/measure/random.hpp"

namespace tare::measure {
namespace {

TEST(Lag1, is_computed_as_by_hand) {
  // Mean 3, distances −2 −1 0 1 2: products 2+0+0+2 = 4, squares 10.
  EXPECT_DOUBLE_EQ(*lag1(std::vector<double>{1, 2, 3, 4, 5}), 0.4);
  // Mean 0: products −1 −1 −1, squares 4.
  EXPECT_DOUBLE_EQ(*lag1(std::vector<double>{1, -1, 1, -1}), -0.75);
}

TEST(Lag1, does_not_change_with_scale_or_shift) {
  const std::vector<double> samples{3, 1, 4, 1, 5, 9, 2, 6};
  std::vector<double> moved;
  for (const double sample : samples) moved.push_back(sample * 1000 + 1e7);
  EXPECT_NEAR(*lag1(moved), *lag1(samples), 1e-9);
}

TEST(Lag1, finds_the_coefficient_of_a_first_order_process) {
  Random random(5);
  for (const double coefficient : {0.0, 0.5, 0.8}) {
    std::vector<double> samples(20000);
    double state = 0;
    for (double& sample : samples) sample = state = coefficient * state + random.uniform() - 0.5;
    EXPECT_NEAR(*lag1(samples), coefficient, 0.02);
  }
}

TEST(Lag1, needs_three_samples_and_some_variance) {
  EXPECT_FALSE(lag1({}));
  EXPECT_FALSE(lag1(std::vector<double>{1, 2}));
  EXPECT_FALSE(lag1(std::vector<double>(50, 0.1)));
  EXPECT_TRUE(lag1(std::vector<double>{1, 2, 3}));
}

TEST(EffectiveN, is_n_when_independent_and_never_more_than_n_or_less_than_one) {
  EXPECT_DOUBLE_EQ(effective_n(100, 0), 100);
  EXPECT_NEAR(effective_n(100, 0.5), 100.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(effective_n(100, -0.5), 100);
  EXPECT_DOUBLE_EQ(effective_n(100, -1), 100);
  EXPECT_DOUBLE_EQ(effective_n(100, 1), 1);
}

}  // namespace
}  // namespace tare::measure
