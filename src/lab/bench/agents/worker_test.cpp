#include "lab/bench/agents/worker.hpp"

#include <set>

#include <gtest/gtest.h>

namespace tare::agents_bench {
namespace {

using namespace std::chrono_literals;

TEST(Worker, has_two_seconds_to_say_that_its_budget_is_over) {
  EXPECT_EQ(budget_within(300s), 298s);
  EXPECT_EQ(budget_within(4s), 2s);
}

TEST(Worker, has_at_least_half_of_its_time) {
  EXPECT_EQ(budget_within(3s), 1500ms);
  EXPECT_EQ(budget_within(1ms), 500us);
}

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
