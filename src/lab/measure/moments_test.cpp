#include "lab/measure/moments.hpp"

#include <cmath>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "lab/measure/random.hpp"

namespace tare::measure {
namespace {

TEST(Moments, are_those_of_the_textbook_example) {
  const Moments moments(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(moments.count(), 8u);
  EXPECT_DOUBLE_EQ(*moments.mean(), 5);
  EXPECT_DOUBLE_EQ(*moments.stddev(), 2);
  EXPECT_EQ(moments.min(), 2);
  EXPECT_EQ(moments.max(), 9);
}

TEST(Moments, spread_of_samples_near_twelve_seconds_in_nanoseconds_does_not_wrap) {
  // Squares of these leave 64 bits; their sum leaves the 53 of a double. The spread is a seventh of a second.
  const double base = 12e9;
  std::vector<double> samples;
  for (const double offset : {-0.2e9, -0.1e9, 0.0, 0.1e9, 0.21e9}) samples.push_back(base + offset);
  const double mean = 0.01e9 / 5;
  double squares = 0;
  for (const double offset : {-0.2e9, -0.1e9, 0.0, 0.1e9, 0.21e9})
    squares += (offset - mean) * (offset - mean);
  EXPECT_NEAR(*Moments(samples).stddev(), std::sqrt(squares / 5), 1);
  EXPECT_NEAR(*Moments(samples).stddev() / 1e9, 0.145, 0.001);
}

TEST(Moments, shift_leaves_the_deviation_and_scale_multiplies_it) {
  Random random(1);
  std::vector<double> samples(1000), moved(1000), scaled(1000);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = random.uniform();
    moved[i] = samples[i] + 1e9;
    scaled[i] = samples[i] * -3;
  }
  EXPECT_NEAR(*Moments(moved).stddev(), *Moments(samples).stddev(), 1e-6);
  EXPECT_NEAR(*Moments(moved).mean(), *Moments(samples).mean() + 1e9, 1e-6);
  EXPECT_NEAR(*Moments(scaled).stddev(), *Moments(samples).stddev() * 3, 1e-12);
}

TEST(Moments, merge_is_concatenation) {
  Random random(2);
  std::vector<double> samples(777);
  for (double& sample : samples) sample = 1e6 + random.uniform();
  const Moments whole{samples};
  for (const std::size_t cut : {0, 1, 300, 776, 777}) {
    Moments left{std::span(samples).first(cut)};
    left.merge(Moments{std::span(samples).subspan(cut)});
    EXPECT_EQ(left.count(), whole.count());
    EXPECT_EQ(left.min(), whole.min());
    EXPECT_EQ(left.max(), whole.max());
    EXPECT_NEAR(*left.mean(), *whole.mean(), 1e-8);
    EXPECT_NEAR(*left.stddev(), *whole.stddev(), 1e-8);
  }
}

TEST(Moments, one_sample_and_zero_variance_are_legal) {
  const Moments one(std::vector<double>{0.1});
  EXPECT_EQ(one.mean(), 0.1);
  EXPECT_EQ(one.stddev(), 0);
  const Moments same(std::vector<double>(1000, 0.1));
  EXPECT_EQ(same.stddev(), 0);
  EXPECT_EQ(same.mean(), 0.1);
}

TEST(Moments, without_samples_there_is_no_value) {
  const Moments none;
  EXPECT_EQ(none.count(), 0u);
  EXPECT_FALSE(none.mean());
  EXPECT_FALSE(none.stddev());
  EXPECT_FALSE(none.min());
  EXPECT_FALSE(none.max());
}

}  // namespace
}  // namespace tare::measure
