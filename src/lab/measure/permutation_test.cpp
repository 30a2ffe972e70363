#include "lab/measure/permutation.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "lab/measure/noise_for_tests.hpp"

namespace tare::measure {
namespace {

TEST(Permutation, agrees_with_enumerating_every_relabelling) {
  // Medians 2 and 5 differ by 3. Of the 20 ways to choose three of six, four have medians as far apart:
  // {1,2,3}, {1,2,4} and what these leave.
  const double p =
      *quantile_permutation_test(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6}, 0.5, 1, 20000);
  EXPECT_NEAR(p, 0.2, 0.01);
}

TEST(Permutation, finds_a_tail_that_moved_and_reports_a_p_that_is_never_zero) {
  auto a = noise(200, 1);
  const auto b = noise(200, 2);
  for (std::size_t i = 0; i < a.size(); i += 10) a[i] += 5;  // every tenth sample is slow: p95 moves
  EXPECT_EQ(*quantile_permutation_test(a, b, 0.95, 1, 999), 0.001);
}

TEST(Permutation, the_same_seed_gives_the_same_p) {
  EXPECT_EQ(quantile_permutation_test(noise(100, 1), noise(100, 2), 0.95, 3, 500),
            quantile_permutation_test(noise(100, 1), noise(100, 2), 0.95, 3, 500));
}

TEST(Permutation, of_identical_samples_is_one) {
  EXPECT_EQ(*quantile_permutation_test(noise(100, 1), noise(100, 1), 0.95, 1, 99), 1);
  const std::vector<double> same(100, 3.0);
  EXPECT_EQ(*quantile_permutation_test(same, same, 0.99, 1, 99), 1);
}

TEST(Permutation, needs_the_samples_that_carry_the_quantile) {
  EXPECT_FALSE(quantile_permutation_test(noise(100, 1), noise(99, 2), 0.99, 1));
  EXPECT_FALSE(quantile_permutation_test({}, {}, 0.5, 1));
  EXPECT_TRUE(quantile_permutation_test(noise(100, 1), noise(100, 2), 0.99, 1, 99));
}

TEST(Permutation, equal_distributions_are_told_apart_no_oftener_than_promised) {
  int wrong = 0;
  for (std::uint64_t run = 0; run < 400; ++run) {
    wrong += *quantile_permutation_test(noise(60, 2 * run), noise(80, 2 * run + 1), 0.95, run, 199) <= 0.05;
  }
  EXPECT_LE(wrong, 31);  // 5 % of 400 is 20; two and a half standard deviations more
  EXPECT_GE(wrong, 5);
}

}  // namespace
}  // namespace tare::measure
