#include "lab/measure/detectable.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace tare::measure {
namespace {

TEST(Detectable, one_pair_a_comparison_is_the_95th_percentile_of_the_pairs) {
  std::vector<double> first;
  std::vector<double> second(20, 100.0);
  for (int i = 1; i <= 20; ++i) first.push_back(100.0 + i);
  // Nearest rank: ceil(0.95 · 20) = 19.
  EXPECT_NEAR(minimum_detectable(first, second, Pairing::paired, 1).value(), 0.19, 1e-12);
}

TEST(Detectable, equal_lanes_see_everything) {
  const std::vector<double> same(8, 7.0);
  EXPECT_EQ(minimum_detectable(same, same, Pairing::paired, 1), 0.0);
  EXPECT_EQ(minimum_detectable(same, same, Pairing::unpaired, 5), 0.0);
}

TEST(Detectable, more_processes_see_less) {
  std::vector<double> first;
  std::vector<double> second;
  for (int i = 0; i < 20; ++i) {
    first.push_back(100 + (i % 7));
    second.push_back(100 + (i * 3 % 8));
  }
  const double one = minimum_detectable(first, second, Pairing::unpaired, 1).value();
  const double ten = minimum_detectable(first, second, Pairing::unpaired, 10).value();
  EXPECT_LT(ten, 0.6 * one);
}

TEST(Detectable, a_drift_of_both_lanes_is_seen_only_without_pairs) {
  std::vector<double> first;
  std::vector<double> second;
  for (int i = 0; i < 20; ++i) {
    first.push_back(100 + 2.0 * i);
    second.push_back(100 + 2.0 * i);
  }
  EXPECT_EQ(minimum_detectable(first, second, Pairing::paired, 1), 0.0);
  EXPECT_GT(minimum_detectable(first, second, Pairing::unpaired, 1).value(), 0.2);
}

TEST(Detectable, the_same_seed_gives_the_same_answer) {
  const std::vector<double> first{100, 101, 99, 104, 98, 103};
  const std::vector<double> second{101, 100, 100, 101, 99, 102};
  EXPECT_EQ(minimum_detectable(first, second, Pairing::unpaired, 3, 7),
            minimum_detectable(first, second, Pairing::unpaired, 3, 7));
}

TEST(Detectable, too_few_pairs_or_no_time_tell_nothing) {
  const std::vector<double> five(5, 1.0);
  EXPECT_FALSE(minimum_detectable(five, five, Pairing::paired, 1));
  const std::vector<double> zero(6, 0.0);
  EXPECT_FALSE(minimum_detectable(zero, zero, Pairing::paired, 1));
  EXPECT_THROW(minimum_detectable(five, zero, Pairing::paired, 1), Error);
}

}  // namespace
}  // namespace tare::measure
