#include "runtime/agents/dedupe.hpp"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>

namespace tare::agents {
namespace {

using testing::ElementsAre;

RunKey key(NameId child, std::uint32_t generation, RunId id) {
  return {id, child, generation};
}

TEST(Dedupe, takes_the_newest_generation_of_each_child_in_either_order) {
  std::vector<RunKey> runs{key(7, 1, 1), key(9, 1, 2), key(7, 2, 3), key(7, 3, 4), key(9, 2, 5)};
  EXPECT_THAT(newest_per_child(runs), ElementsAre(3, 4));
  std::ranges::reverse(runs);
  EXPECT_THAT(newest_per_child(runs), ElementsAre(0, 1));
}

TEST(Dedupe, of_equal_generations_the_later_registration_counts) {
  const std::vector<RunKey> runs{key(1, 2, 10), key(1, 2, 30), key(1, 2, 20)};
  EXPECT_THAT(newest_per_child(runs), ElementsAre(1));
}

TEST(Dedupe, nothing_gives_nothing) {
  EXPECT_TRUE(newest_per_child({}).empty());
}

TEST(Dedupe, agrees_with_a_map_whatever_the_ids_are) {
  std::uint64_t seed = 1;
  const auto next = [&] { return (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 40; };
  for (const std::uint32_t spread : {1u, 5u, 1000u, 0x7fffffffu}) {
    std::vector<RunKey> runs;
    for (int i = 0; i < 500; ++i) {
      runs.push_back(key(static_cast<NameId>(next() % spread), static_cast<std::uint32_t>(next() % 4), i));
    }
    std::map<NameId, std::size_t> best;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto [found, is_new] = best.emplace(runs[i].child, i);
      if (!is_new && runs[i].generation >= runs[found->second].generation) found->second = i;
    }
    std::vector<std::uint32_t> expected;
    for (const auto& [child, index] : best) expected.push_back(static_cast<std::uint32_t>(index));
    std::ranges::sort(expected);
    EXPECT_EQ(newest_per_child(runs), expected) << spread;
  }
}

}  // namespace
}  // namespace tare::agents
