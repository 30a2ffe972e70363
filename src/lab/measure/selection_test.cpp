#include "lab/measure/selection.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "lab/measure/random.hpp"

namespace tare::measure {
namespace {

TEST(Selection, finds_the_same_differences_as_making_and_sorting_all_of_them) {
  Random random(1);
  for (const double scale : {1e-9, 1.0, 1e12}) {
    std::vector<double> a(13), b(17);
    for (double& value : a) value = scale * (random.uniform() - 0.3);
    for (double& value : b) value = scale * (random.uniform() - 0.3);
    a[3] = a[4] = b[5] = b[6];  // ties, and a difference of zero
    std::ranges::sort(a);
    std::ranges::sort(b);
    std::vector<double> all;
    for (const double x : a) {
      for (const double y : b) all.push_back(x - y);
    }
    std::ranges::sort(all);
    for (std::size_t k = 0; k < all.size(); ++k) ASSERT_EQ(select_difference(a, b, k), all[k]) << k;
  }
}

TEST(Selection, one_difference_is_itself) {
  EXPECT_EQ(select_difference(std::vector<double>{2}, std::vector<double>{5}, 0), -3);
}

}  // namespace
}  // namespace tare::measure
