#include "lab/measure/outliers.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace tare::measure {
namespace {

TEST(Outliers, are_counted_by_the_fence_that_they_pass) {
  // Quartiles 10 and 12: fences at 7 and 15 (mild), 4 and 18 (severe).
  const std::vector<double> sorted{4, 7, 10, 10, 11, 11, 12, 12, 12, 15, 16, 19};
  ASSERT_EQ(outliers_of_sorted(sorted)->count, 3u);
  EXPECT_EQ(outliers_of_sorted(sorted)->mild, 2u);    // 4 is on the severe fence, 16 is past the mild one
  EXPECT_EQ(outliers_of_sorted(sorted)->severe, 1u);  // 19
  EXPECT_DOUBLE_EQ(*outliers_of_sorted(sorted)->time_share, (4.0 + 16 + 19) / 139);
}

TEST(Outliers, of_samples_without_spread_are_all_that_differ) {
  EXPECT_EQ(outliers_of_sorted(std::vector<double>(9, 2.5))->count, 0u);
  const auto one_off = outliers_of_sorted(std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1, 2});
  EXPECT_EQ(one_off->severe, 1u);
  EXPECT_DOUBLE_EQ(*one_off->time_share, 0.2);
}

TEST(Outliers, need_four_samples) {
  EXPECT_FALSE(outliers_of_sorted({}));
  EXPECT_FALSE(outliers_of_sorted(std::vector<double>{1, 2, 300}));
  EXPECT_TRUE(outliers_of_sorted(std::vector<double>{1, 2, 3, 4}));
}

TEST(Outliers, have_no_share_of_a_time_that_is_not_one) {
  EXPECT_FALSE(outliers_of_sorted(std::vector<double>{0, 0, 0, 0})->time_share);
  EXPECT_FALSE(outliers_of_sorted(std::vector<double>{-100, 1, 1, 1, 1, 1})->time_share);
}

TEST(Outliers, a_value_that_stands_for_many_counts_as_many) {
  const std::vector<double> samples{1, 2, 2, 2, 3, 9, 9, 40};
  const std::vector<Repeated> repeated{{1, 1}, {2, 3}, {3, 1}, {9, 2}, {40, 1}};
  const Outliers each = count_outliers(samples, 2, 4);
  EXPECT_EQ(each.mild, 2U);
  EXPECT_EQ(each.severe, 1U);
  EXPECT_EQ(count_outliers(repeated, 2, 4), each);
}

}  // namespace
}  // namespace tare::measure
