#include "protocol/eager.hpp"

#include <gtest/gtest.h>

namespace tare::guest {
namespace {

/// How often it looks in so many waits, when it never sees anything.
int looks_in(Eager& eager, int waits) {
  int looked = 0;
  for (int i = 0; i < waits; ++i) {
    bool now = false;
    EXPECT_FALSE(eager.sees([&] {
      now = true;
      return false;
    }));
    looked += now ? 1 : 0;
  }
  return looked;
}

TEST(Eager, the_first_waits_are_sleeps) {
  Eager eager;
  EXPECT_EQ(looks_in(eager, 8), 0);
  EXPECT_EQ(looks_in(eager, 1), 1);
}

TEST(Eager, what_comes_at_once_is_seen_every_time) {
  Eager eager;
  looks_in(eager, 8);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(eager.sees([] { return true; }));
}

TEST(Eager, after_each_failure_it_looks_half_as_often) {
  Eager eager;
  looks_in(eager, 8);
  EXPECT_EQ(looks_in(eager, 1 + 1), 1);  // it looks, and sleeps once
  EXPECT_EQ(looks_in(eager, 1 + 3), 1);  // it looks, and sleeps three times
  EXPECT_EQ(looks_in(eager, 1 + 7), 1);
  EXPECT_EQ(looks_in(eager, 20'000), 25);  // from every 16th time to every 1,024th
}

TEST(Eager, what_it_sees_makes_up_for_failures) {
  Eager eager;
  looks_in(eager, 8 + 1 + 1);
  EXPECT_TRUE(eager.sees([] { return true; }));
  EXPECT_EQ(looks_in(eager, 1), 1);
}

}  // namespace
}  // namespace tare::guest
