#include "lab/measure/rank_sum.hpp"

#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::measure {
namespace {

using testing::ElementsAre;

TEST(RankSum, tied_samples_share_the_mean_of_their_ranks) {
  const MidRanks ranks = mid_ranks(std::vector<double>{1, 2, 2}, std::vector<double>{2, 3});
  EXPECT_THAT(ranks.twice_each, ElementsAre(2, 6, 6, 6, 10));  // ranks 1, 3, 3, 3, 5
  EXPECT_EQ(ranks.twice_sum_a, 14u);
  EXPECT_EQ(ranks.tie_correction, 24);
}

TEST(RankSum, distribution_is_that_of_enumerating_all_choices) {
  const std::vector<std::uint64_t> numbers{1, 3, 3, 6, 7, 12, 13};
  for (std::size_t n = 1; n <= numbers.size(); ++n) {
    std::vector<double> expected(64);
    double choices = 0;
    for (unsigned set = 0; set < 1u << numbers.size(); ++set) {
      if (static_cast<std::size_t>(__builtin_popcount(set)) != n) continue;
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < numbers.size(); ++i) sum += (set >> i & 1) != 0 ? numbers[i] : 0;
      ++expected[sum];
      ++choices;
    }
    const auto actual = rank_sum_distribution(numbers, n);
    for (std::size_t sum = 0; sum < actual.size(); ++sum) {
      ASSERT_NEAR(actual[sum], expected[sum] / choices, 1e-14) << n << " " << sum;
    }
  }
}

TEST(RankSum, u_of_three_against_three_is_the_textbook_distribution) {
  // Twenty choices: 1 1 2 3 3 3 3 2 1 1 for U = 0..9.
  const auto u = u_distribution(3, 3);
  const std::vector<double> choices{1, 1, 2, 3, 3, 3, 3, 2, 1, 1};
  ASSERT_EQ(u.size(), choices.size());
  for (std::size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(u[i], choices[i] / 20, 1e-15);
}

TEST(RankSum, large_distributions_sum_to_one_and_are_symmetric) {
  const auto u = u_distribution(50, 45);
  EXPECT_EQ(u.size(), 50u * 45u + 1);
  EXPECT_NEAR(std::accumulate(u.begin(), u.end(), 0.0), 1, 1e-12);
  for (std::size_t i = 0; i < u.size(); ++i) ASSERT_NEAR(u[i], u[u.size() - 1 - i], 1e-14);
}

}  // namespace
}  // namespace tare::measure
