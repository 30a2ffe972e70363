#include "lab/verdict/units.hpp"

#include <gtest/gtest.h>

namespace tare::verdict {
namespace {

TEST(Units, times_and_sizes_convert_among_themselves) {
  EXPECT_DOUBLE_EQ(unit_factor("s", "ms").value(), 1000);
  EXPECT_DOUBLE_EQ(unit_factor("us", "ms").value(), 0.001);
  EXPECT_DOUBLE_EQ(unit_factor("µs", "us").value(), 1);
  EXPECT_DOUBLE_EQ(unit_factor("MB", "KB").value(), 1024);
  EXPECT_DOUBLE_EQ(unit_factor("bytes", "B").value(), 1);
}

TEST(Units, what_measures_different_things_does_not_convert) {
  EXPECT_FALSE(unit_factor("ms", "MB"));
  EXPECT_FALSE(unit_factor("ms", ""));
  EXPECT_FALSE(unit_factor("fortnights", "s"));
  EXPECT_DOUBLE_EQ(unit_factor("fortnights", "fortnights").value(), 1);
}

TEST(Units, a_quantity_is_a_number_and_a_unit) {
  EXPECT_DOUBLE_EQ(parse_quantity("40 ms")->value, 40);
  EXPECT_EQ(parse_quantity("40 ms")->unit, "ms");
  EXPECT_EQ(parse_quantity("161MB")->unit, "MB");
  EXPECT_DOUBLE_EQ(parse_quantity("+2.5 %")->value, 2.5);
  EXPECT_EQ(parse_quantity("+2.5 %")->unit, "%");
  EXPECT_EQ(parse_quantity(" 1.5 ")->unit, "");
  EXPECT_DOUBLE_EQ(parse_quantity("1e3us")->value, 1000);
}

TEST(Units, what_is_no_quantity_is_none) {
  for (const char* text : {"", "ms", "40 fortnights", "4 0 ms", "nan", "inf ms", "40 ms ms", "--1"}) {
    EXPECT_FALSE(parse_quantity(text)) << text;
  }
}

}  // namespace
}  // namespace tare::verdict
