#include "lab/measure/paired.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/measure/random.hpp"

namespace tare::measure {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Paired, ratio_and_difference_are_medians_over_the_rounds) {
  const std::vector<double> subject{2, 6, 4, 10, 3, 9};
  const std::vector<double> reference{1, 2, 4, 5, 3, 3};
  // Ratios 2 3 1 2 1 3, differences 1 4 0 5 0 6.
  const Comparison result = compare_paired(subject, reference);
  EXPECT_EQ(result.pairs, 6u);
  EXPECT_NEAR(*result.ratio, 2, 1e-12);
  EXPECT_DOUBLE_EQ(*result.difference, 2.5);
  EXPECT_NEAR((*result.ratio_interval)[0], 1, 1e-12);  // six pairs: the extremes
  EXPECT_NEAR((*result.ratio_interval)[1], 3, 1e-12);
  EXPECT_EQ(result.difference_interval, (Interval{0, 6}));
  EXPECT_NEAR(*result.coverage, 0.96875, 1e-12);
}

TEST(Paired, interval_is_that_of_the_sign_test) {
  // Ten pairs: ranks 2 and 9.
  std::vector<double> subject, reference(10, 1.0);
  for (int i = 1; i <= 10; ++i) subject.push_back(i);
  const Comparison result = compare_paired(subject, reference);
  EXPECT_NEAR((*result.ratio_interval)[0], 2, 1e-12);
  EXPECT_NEAR((*result.ratio_interval)[1], 9, 1e-12);
}

TEST(Paired, swapping_the_lanes_mirrors_the_result) {
  Random random(1);
  for (const std::size_t n : {7, 40, 41}) {
    std::vector<double> a(n), b(n);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = 1 + random.uniform();
      b[i] = 1 + random.uniform();
    }
    const Comparison forth = compare_paired(a, b);
    const Comparison back = compare_paired(b, a);
    EXPECT_NEAR(*forth.ratio * *back.ratio, 1, 1e-12);
    EXPECT_NEAR((*forth.ratio_interval)[0] * (*back.ratio_interval)[1], 1, 1e-12);
    EXPECT_DOUBLE_EQ(*forth.difference, -*back.difference);
    EXPECT_DOUBLE_EQ((*forth.difference_interval)[0], -(*back.difference_interval)[1]);
    EXPECT_LE((*forth.ratio_interval)[0], *forth.ratio);
    EXPECT_GE((*forth.ratio_interval)[1], *forth.ratio);
  }
}

TEST(Paired, a_drift_of_the_machine_is_in_both_lanes_and_cancels) {
  std::vector<double> subject, reference;
  for (int round = 0; round < 40; ++round) {
    const double machine = 1 + 0.05 * round;  // three times as slow at the end
    reference.push_back(10 * machine);
    subject.push_back(11 * machine);
  }
  const Comparison result = compare_paired(subject, reference);
  EXPECT_NEAR(*result.ratio, 1.1, 1e-12);
  EXPECT_NEAR((*result.ratio_interval)[1] - (*result.ratio_interval)[0], 0, 1e-12);
}

TEST(Paired, samples_below_resolution_are_counted_and_give_no_ratio) {
  const std::vector<double> subject{0, 2, 4, 2};
  const std::vector<double> reference{1, 1, -1, 1};
  const Comparison result = compare_paired(subject, reference);
  EXPECT_EQ(result.excluded, 2u);
  EXPECT_NEAR(*result.ratio, 2, 1e-12);
  EXPECT_EQ(result.difference, 1);
  EXPECT_FALSE(result.ratio_interval);
  EXPECT_THAT(result.notes, Contains(HasSubstr("2 of 4 pairs")));
  EXPECT_THAT(result.notes, Contains("interval n/a (n<6)"));
  const Comparison none = compare_paired(std::vector<double>{0, 0}, std::vector<double>{1, 1});
  EXPECT_FALSE(none.ratio);
  EXPECT_EQ(none.difference, -1);
}

TEST(Paired, one_pair_no_pairs_and_no_variance_are_legal) {
  EXPECT_EQ(compare_paired(std::vector<double>{3}, std::vector<double>{2}).ratio, 1.5);
  const Comparison empty = compare_paired({}, {});
  EXPECT_EQ(empty.pairs, 0u);
  EXPECT_FALSE(empty.ratio);
  EXPECT_FALSE(empty.difference);
  const std::vector<double> same(50, 2.0);
  EXPECT_EQ(compare_paired(same, same).ratio_interval, (Interval{1, 1}));
}

TEST(Paired, series_of_different_length_are_refused) {
  EXPECT_THROW(compare_paired(std::vector<double>{1, 2}, std::vector<double>{1}), Error);
}

TEST(Paired, two_equal_lanes_are_found_different_no_oftener_than_promised) {
  Random random(2026);
  int wrong = 0;
  const int runs = 1000;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> subject(40), reference(40);
    for (std::size_t i = 0; i < 40; ++i) {
      const double drift = 1 + 0.03 * static_cast<double>(i) / 40;
      subject[i] = drift * (1 + 0.1 * random.uniform());
      reference[i] = drift * (1 + 0.1 * random.uniform());
    }
    const auto interval = *compare_paired(subject, reference).ratio_interval;
    wrong += interval[0] > 1 || interval[1] < 1;
  }
  EXPECT_LE(wrong, 60);  // 5 % and two standard deviations
  EXPECT_GE(wrong, 10);  // and the interval is not uselessly wide (exact: 3.8 %)
}

}  // namespace
}  // namespace tare::measure
