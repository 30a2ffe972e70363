#include "lab/measure/facts.hpp"

#include <gtest/gtest.h>

#include "lab/measure/fake_root.hpp"

namespace tare::measure::facts {
namespace {

TEST(Facts, a_file_that_cannot_be_read_is_an_absent_fact) {
  FakeRoot root;
  root.add("number", "42\n")
      .add("empty", "\n")
      .add("words", "4 2\n")
      .add("negative", "-1\n")
      .add("folder/x", "");
  EXPECT_EQ(text(root.path() / "number"), "42");
  EXPECT_EQ(number(root.path() / "number"), 42u);
  for (const char* name : {"empty", "words", "negative", "folder", "nowhere"}) {
    EXPECT_FALSE(number(root.path() / name)) << name;
  }
  EXPECT_FALSE(text(root.path() / "empty"));
  EXPECT_FALSE(text(root.path() / "folder"));
  EXPECT_FALSE(text("/dev/zero"));  // would never end
}

TEST(Facts, a_key_is_found_only_as_a_whole) {
  const char* stat = "nr_throttled_usec 9\nnr_throttled 3\nMemTotal:   8 kB\nlast:";
  EXPECT_EQ(value_of(stat, "nr_throttled"), "3");
  EXPECT_EQ(value_of(stat, "MemTotal"), "8 kB");
  EXPECT_FALSE(value_of(stat, "Mem"));
  EXPECT_FALSE(value_of(stat, "last"));
  EXPECT_FALSE(value_of("", "x"));
}

TEST(Facts, processors_of_a_list_are_counted) {
  EXPECT_EQ(cpu_list_size("0"), 1u);
  EXPECT_EQ(cpu_list_size("0-3,8"), 5u);
  for (const char* bad : {"", "3-0", "a", "0-", "0-99999999999", "1,,2"})
    EXPECT_FALSE(cpu_list_size(bad)) << bad;
}

}  // namespace
}  // namespace tare::measure::facts
