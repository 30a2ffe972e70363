#include "lab/bench/agents/worker.hpp"

#include <set>

#include <gtest/gtest.h>

namespace tare::agents_bench {
namespace {

TEST(Worker, is_killed_at_a_point_that_chance_picks_and_the_seed_repeats) {
  std::set<std::uint64_t> points;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const std::uint64_t point = kill_point(seed, 100);
    EXPECT_EQ(kill_point(seed, 100), point);
    EXPECT_GE(point, 1u);
    EXPECT_LE(point, 100u);
    points.insert(point);
  }
  EXPECT_EQ(points.size(),
            100u);  // one is missed with a probability of 100 × 0.99^1000 = 0.4 %; these seeds miss none
}

}  // namespace
}  // namespace tare::agents_bench
