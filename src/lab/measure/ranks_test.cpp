#include "lab/measure/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/measure/random.hpp"
#include "lab/measure/rank_sum.hpp"

namespace tare::measure {
namespace {

std::vector<double> noise(std::size_t n, std::uint64_t seed, double shift = 0) {
  Random random(seed);
  std::vector<double> samples(n);
  for (double& sample : samples) sample = 1 + shift + random.uniform();
  return samples;
}

/// The largest U that is significant at 5 % on two sides, or nothing.
std::optional<std::size_t> critical(std::size_t n, std::size_t m) {
  const auto u = u_distribution(n, m);
  double below = 0;
  std::optional<std::size_t> largest;
  for (std::size_t i = 0; i < u.size(); ++i) {
    below += u[i];
    if (below > 0.025) break;
    largest = i;
  }
  return largest;
}

TEST(MannWhitney, critical_values_are_those_of_the_published_table) {
  // Two-sided, α = .05, as in the appendices of textbooks (Siegel; Conover; Sachs).
  const struct {
    std::size_t n, m, u;
  } table[] = {{4, 4, 0},     {4, 5, 1},    {5, 5, 2},   {5, 6, 3},    {6, 6, 5},    {6, 8, 8},
               {7, 7, 8},     {8, 8, 13},   {9, 9, 17},  {10, 10, 23}, {12, 12, 37}, {15, 15, 64},
               {20, 20, 127}, {10, 20, 55}, {5, 20, 20}, {3, 8, 2}};
  for (const auto& row : table) {
    EXPECT_EQ(critical(row.n, row.m), row.u) << row.n << " " << row.m;
    EXPECT_EQ(critical(row.m, row.n), row.u) << row.n << " " << row.m;
  }
  EXPECT_FALSE(critical(3, 3));
  EXPECT_FALSE(critical(3, 4));
}

TEST(MannWhitney, four_a_side_is_the_least_that_decides_at_five_percent) {
  EXPECT_NEAR(mann_whitney(std::vector<double>{1, 2, 3, 4}, std::vector<double>{5, 6, 7, 8})->p, 2.0 / 70,
              1e-14);
  EXPECT_NEAR(mann_whitney(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6})->p, 0.1, 1e-14);
  EXPECT_TRUE(can_decide(4, 4));
  EXPECT_FALSE(can_decide(3, 3));
  EXPECT_FALSE(can_decide(3, 4));
  EXPECT_TRUE(can_decide(3, 5));
  EXPECT_FALSE(can_decide(1, 30));
  EXPECT_TRUE(can_decide(1000, 1000));
  EXPECT_FALSE(can_decide(0, 100));
}

TEST(MannWhitney, agrees_with_the_documented_example_of_hollander_and_wolfe) {
  // Permeability of the human chorioamnion at term and at 12 to 26 weeks; one-sided p is .1272.
  const std::vector<double> x{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
  const std::vector<double> y{1.15, 0.88, 0.90, 0.74, 1.21};
  const auto test = *mann_whitney(x, y);
  EXPECT_EQ(test.u, 35);
  EXPECT_EQ(test.method, RankMethod::exact);
  EXPECT_NEAR(test.p / 2, 0.1272, 5e-5);
  EXPECT_NEAR(hodges_lehmann(x, y)->shift, 0.305, 1e-12);
}

TEST(MannWhitney, exact_with_ties_counts_the_relabellings_of_the_ties_that_there_are) {
  // Ranks 1 2.5 2.5 | 4 5 6: still only one choice of twenty is as low.
  EXPECT_NEAR(mann_whitney(std::vector<double>{1, 2, 2}, std::vector<double>{3, 4, 5})->p, 0.1, 1e-14);
  // {1,1} against {1,2}: rank sums of two out of 2 2 2 4 are 4 (three ways) and 6 (three ways).
  EXPECT_NEAR(mann_whitney(std::vector<double>{1, 1}, std::vector<double>{1, 2})->p, 1, 1e-14);
}

TEST(MannWhitney, normal_approximation_is_near_the_exact_distribution) {
  for (const double shift : {0.0, 0.05, 0.1, 0.2}) {
    const auto a = noise(50, 1, shift);
    const auto b = noise(45, 2);
    EXPECT_NEAR(mann_whitney(a, b, RankMethod::exact)->p, mann_whitney(a, b, RankMethod::normal)->p, 0.005);
  }
  std::vector<double> a, b;  // the same with many ties
  for (const double sample : noise(50, 1, 0.1)) a.push_back(std::round(sample * 5));
  for (const double sample : noise(45, 2)) b.push_back(std::round(sample * 5));
  EXPECT_NEAR(mann_whitney(a, b, RankMethod::exact)->p, mann_whitney(a, b, RankMethod::normal)->p, 0.005);
}

TEST(MannWhitney, depends_on_order_only_and_not_on_which_side_is_first) {
  auto a = noise(12, 3, 0.2);
  const auto b = noise(9, 4);
  const auto test = *mann_whitney(a, b);
  EXPECT_NEAR(mann_whitney(b, a)->p, test.p, 1e-14);
  EXPECT_EQ(mann_whitney(b, a)->u, 12 * 9 - test.u);
  Random(5).shuffle(std::span(a));
  EXPECT_EQ(mann_whitney(a, b)->p, test.p);
  std::vector<double> cubes_a, cubes_b;
  for (const double value : a) cubes_a.push_back(value * value * value);
  for (const double value : b) cubes_b.push_back(value * value * value);
  EXPECT_EQ(mann_whitney(cubes_a, cubes_b)->p, test.p);
}

TEST(MannWhitney, equal_distributions_are_told_apart_no_oftener_than_promised) {
  for (const std::size_t n : {10, 100}) {
    int wrong = 0;
    for (std::uint64_t run = 0; run < 1000; ++run) {
      wrong += mann_whitney(noise(n, 2 * run), noise(n, 2 * run + 1), RankMethod::normal)->p <= 0.05;
    }
    EXPECT_LE(wrong, 65) << n;  // 5 % and two standard deviations
    EXPECT_GE(wrong, 25) << n;
  }
}

TEST(MannWhitney, identical_sides_and_no_variance_have_a_p_of_one) {
  const std::vector<double> same(200, 2.0);
  EXPECT_EQ(mann_whitney(same, same)->p, 1);
  EXPECT_EQ(mann_whitney(std::vector<double>{1}, std::vector<double>{1})->p, 1);
  EXPECT_FALSE(mann_whitney({}, same));
}

TEST(HodgesLehmann, shift_and_interval_are_computed_as_by_hand) {
  // Differences of {5,6,7,8} and {1,2,3,4}: 1, 2×2, 3×3, 4×4, 3×5, 2×6, 7; U ≤ 0 has 1/70 on each side.
  const auto shift = *hodges_lehmann(std::vector<double>{5, 6, 7, 8}, std::vector<double>{1, 2, 3, 4});
  EXPECT_EQ(shift.shift, 4);
  EXPECT_EQ(shift.interval, (Interval{1, 7}));
  // Differences of {1,4} and {0,1}: 0 1 3 4.
  EXPECT_EQ(hodges_lehmann(std::vector<double>{1, 4}, std::vector<double>{0, 1})->shift, 2);
  EXPECT_FALSE(hodges_lehmann(std::vector<double>{1, 4}, std::vector<double>{0, 1})->interval);
  EXPECT_FALSE(hodges_lehmann({}, std::vector<double>{1}));
}

TEST(HodgesLehmann, follows_a_shift_of_a_side_and_mirrors_when_swapped) {
  const auto a = noise(30, 6);
  const auto b = noise(25, 7);
  std::vector<double> moved;
  for (const double value : a) moved.push_back(value + 8);
  const auto shift = *hodges_lehmann(a, b);
  EXPECT_NEAR(hodges_lehmann(moved, b)->shift, shift.shift + 8, 1e-12);
  EXPECT_NEAR(hodges_lehmann(b, a)->shift, -shift.shift, 1e-12);
  EXPECT_NEAR((*hodges_lehmann(b, a)->interval)[0], -(*shift.interval)[1], 1e-12);
}

TEST(HodgesLehmann, interval_covers_the_true_shift_as_often_as_it_says) {
  for (const std::size_t n : {20, 60}) {  // exact and normal
    int covered = 0;
    for (std::uint64_t run = 0; run < 300; ++run) {
      const auto interval = *hodges_lehmann(noise(n, 2 * run, 3), noise(n, 2 * run + 1))->interval;
      covered += interval[0] <= 3 && 3 <= interval[1];
    }
    EXPECT_GE(covered, 300 * 92 / 100) << n;
    EXPECT_LE(covered, 300 * 99 / 100) << n;
  }
}

TEST(HodgesLehmann, thirty_thousand_samples_a_side_need_no_billion_differences) {
  const auto shift = *hodges_lehmann(noise(30'000, 8, 0.5), noise(30'000, 9));
  EXPECT_NEAR(shift.shift, 0.5, 0.02);
  EXPECT_LT((*shift.interval)[1] - (*shift.interval)[0], 0.04);
}

TEST(CliffsDelta, counts_wins_less_losses) {
  EXPECT_EQ(cliffs_delta(std::vector<double>{3, 4}, std::vector<double>{1, 2}), 1);
  EXPECT_EQ(cliffs_delta(std::vector<double>{1, 2}, std::vector<double>{3, 4}), -1);
  // Of 6 pairs 3 are larger, 1 is smaller, 2 are tied.
  EXPECT_NEAR(*cliffs_delta(std::vector<double>{2, 3}, std::vector<double>{1, 2, 3}), 2.0 / 6, 1e-15);
  EXPECT_FALSE(cliffs_delta({}, std::vector<double>{1}));
}

TEST(CliffsDelta, is_the_u_of_mann_and_whitney_on_another_scale) {
  std::vector<double> a, b;
  for (const double sample : noise(40, 1, 0.2)) a.push_back(std::round(sample * 8));
  for (const double sample : noise(30, 2)) b.push_back(std::round(sample * 8));
  EXPECT_NEAR(*cliffs_delta(a, b), 2 * mann_whitney(a, b)->u / (40 * 30) - 1, 1e-12);
}

TEST(Unpaired, has_everything_about_a_run_and_its_baseline) {
  std::vector<double> subject;
  const auto reference = noise(60, 1);
  for (const double sample : noise(60, 2)) subject.push_back(sample * 1.5);
  const Unpaired result = compare_unpaired(subject, reference);
  EXPECT_LT(*result.p, 1e-6);
  EXPECT_NEAR(*result.ratio, 1.5, 0.15);
  EXPECT_LT((*result.ratio_interval)[0], *result.ratio);
  EXPECT_GT((*result.ratio_interval)[1], *result.ratio);
  EXPECT_GT(*result.delta, 0.5);
  EXPECT_THAT(result.method, testing::HasSubstr("normal"));
  EXPECT_THAT(result.notes, testing::IsEmpty());
}

TEST(Unpaired, a_baseline_of_zero_has_a_shift_and_no_ratio) {
  const Unpaired result = compare_unpaired(std::vector<double>{1, 2, 3, 4}, std::vector<double>(4, 0.0));
  EXPECT_EQ(result.shift, 2.5);
  EXPECT_FALSE(result.ratio);
  EXPECT_THAT(result.notes, testing::Contains(testing::HasSubstr("ratio n/a")));
  EXPECT_THAT(compare_unpaired({}, {}).notes, testing::Contains("a side has no samples"));
}

}  // namespace
}  // namespace tare::measure
