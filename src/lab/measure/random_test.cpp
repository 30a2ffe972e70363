#include "lab/measure/random.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::measure {
namespace {

TEST(Random, a_seed_gives_the_same_sequence_for_ever) {
  // Computed once by an independent implementation of the two published algorithms.
  Random random(42);
  EXPECT_EQ(random.next(), 1546998764402558742u);
  EXPECT_EQ(random.next(), 6990951692964543102u);
  EXPECT_EQ(random.next(), 12544586762248559009u);
}

TEST(Random, seeds_and_streams_do_not_share_a_sequence) {
  EXPECT_NE(Random(1).next(), Random(2).next());
  EXPECT_NE(mix(1, 0), mix(1, 1));
  EXPECT_NE(mix(1, 0), mix(0, 1));
}

TEST(Random, below_is_uniform_and_in_range) {
  Random random(7);
  std::map<std::uint64_t, int> seen;
  for (int i = 0; i < 60000; ++i) ++seen[random.below(6)];
  ASSERT_EQ(seen.size(), 6u);
  EXPECT_EQ(seen.rbegin()->first, 5u);
  for (const auto& [value, times] : seen) EXPECT_NEAR(times, 10000, 400) << value;
  EXPECT_EQ(random.below(1), 0u);
  // A range just above half of all words, where a plain modulo would be off by a factor of two.
  const std::uint64_t large = (std::uint64_t{3} << 62);
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += random.below(large) < large / 3;
  EXPECT_NEAR(low, 10000, 400);
}

TEST(Random, shuffle_reaches_every_order_equally_often) {
  Random random(3);
  std::map<std::vector<int>, int> seen;
  for (int i = 0; i < 24000; ++i) {
    std::vector<int> items{0, 1, 2, 3};
    random.shuffle(std::span(items));
    ++seen[items];
  }
  ASSERT_EQ(seen.size(), 24u);
  for (const auto& [order, times] : seen) EXPECT_NEAR(times, 1000, 160);
}

TEST(LaneOrder, the_second_round_of_a_pair_is_the_reverse_of_the_first) {
  for (std::uint64_t round = 0; round < 40; round += 2) {
    auto first = lane_order(42, round, 5);
    const auto second = lane_order(42, round + 1, 5);
    std::ranges::reverse(first);
    EXPECT_EQ(first, second) << round;
  }
}

TEST(LaneOrder, is_a_permutation_that_the_seed_decides) {
  for (std::size_t lanes = 0; lanes < 8; ++lanes) {
    auto order = lane_order(1, 6, lanes);
    EXPECT_EQ(order, lane_order(1, 6, lanes));
    std::ranges::sort(order);
    std::vector<std::size_t> all(lanes);
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_EQ(order, all);
  }
  EXPECT_NE(lane_order(1, 0, 8), lane_order(2, 0, 8));
  EXPECT_NE(lane_order(1, 0, 8), lane_order(1, 2, 8));
}

TEST(LaneOrder, a_linear_drift_weighs_on_all_lanes_alike) {
  // Slot s of round r happens at time r·lanes + s; over a pair of rounds every lane has the same mean time.
  const std::size_t lanes = 4;
  for (std::uint64_t pair = 0; pair < 10; ++pair) {
    std::vector<std::size_t> time(lanes);
    for (std::uint64_t round = 2 * pair; round < 2 * pair + 2; ++round) {
      const auto order = lane_order(9, round, lanes);
      for (std::size_t slot = 0; slot < lanes; ++slot) time[order[slot]] += round * lanes + slot;
    }
    EXPECT_THAT(time, testing::Each(time[0]));
  }
}

}  // namespace
}  // namespace tare::measure
