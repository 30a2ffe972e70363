#include "gateway_bench.hpp"

#include <gtest/gtest.h>

namespace tare::benchmarks {
namespace {

TEST(LargestShare, is_that_of_the_figure_that_is_nearest_to_its_limit) {
  const Measurement measurement = largest_share({
      {"CPU", 0.75, " %", {{}, 3}, {}},
      {"memory", 30, " MB", {{}, 40}, "of one run"},
      {"turns", 600, "×", {300, {}}, {}},
  });
  EXPECT_DOUBLE_EQ(measurement.measured.value(), 75);
  EXPECT_EQ(measurement.note,
            "CPU 0.750 % (≤ 3.00); memory 30.0 MB (≤ 40.0), of one run; turns 600× (≥ 300)");
}

TEST(LargestShare, is_above_all_of_it_where_a_figure_is_too_small) {
  EXPECT_DOUBLE_EQ(largest_share({{"turns", 150, "×", {300, {}}, {}}}).measured.value(), 200);
}

TEST(LargestShare, is_above_all_of_it_where_a_figure_is_too_large) {
  EXPECT_DOUBLE_EQ(largest_share({{"memory", 60, " MB", {{}, 40}, {}}}).measured.value(), 150);
}

}  // namespace
}  // namespace tare::benchmarks
