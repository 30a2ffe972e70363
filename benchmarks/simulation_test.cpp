#include "simulation.hpp"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "benchmark.hpp"
#include "lab/measure/random.hpp"
#include "lab/verdict/samples.hpp"

namespace tare::benchmarks {
namespace {

TEST(CountRuns, asks_each_run_once_and_counts_the_hits) {
  std::vector<std::atomic<int>> asked(401);
  const std::size_t hits = count_runs(asked.size(), [&](std::size_t i) {
    ++asked[i];
    return i % 10 == 0;
  });
  EXPECT_EQ(hits, 41U);
  for (const auto& times : asked) EXPECT_EQ(times, 1);
  EXPECT_EQ(count_runs(0, [](std::size_t) { return true; }), 0U);
}

// Expected values: tables of Clopper and Pearson.
TEST(ShareInterval, is_that_of_clopper_and_pearson) {
  const auto [low, high] = share_interval(5, 10);
  EXPECT_NEAR(low, 0.1871, 1e-4);
  EXPECT_NEAR(high, 0.8129, 1e-4);
}

TEST(ShareInterval, reaches_the_end_when_nothing_or_everything_was_a_hit) {
  EXPECT_EQ(share_interval(0, 10)[0], 0);
  EXPECT_NEAR(share_interval(0, 10)[1], 0.3085, 1e-4);
  EXPECT_EQ(share_interval(10, 10)[1], 1);
  EXPECT_NEAR(share_interval(10, 10)[0], 0.6915, 1e-4);
}

report::Document lanes(double ratio) {
  measure::Random random(1);
  verdict::MadeLanes made = verdict::made_lanes({}, ratio, 30, random);
  return verdict::made_document({verdict::made_row("node_exit_1", "before", std::move(made.base)),
                                 verdict::made_row("node_exit_1", "after", std::move(made.now))});
}

TEST(CompareLanes, tells_a_large_change_from_none) {
  EXPECT_TRUE(sees_a_change(compare_lanes(lanes(1.5), "before", "after")));
  EXPECT_TRUE(sees_a_change(compare_lanes(lanes(0.5), "before", "after")));
  EXPECT_FALSE(sees_a_change(compare_lanes(lanes(1.0), "before", "after")));
}

TEST(CompareDocuments, has_no_tolerance) {
  measure::Random random(1);
  const auto run = [&](double median) {
    return verdict::made_document({verdict::made_row(
        "node_exit_1", "node", verdict::made_metric({median, 0.001, 0, 0}, 10, 20, random))});
  };
  EXPECT_TRUE(sees_a_change(compare_documents(run(100), run(101))));
  EXPECT_FALSE(sees_a_change(compare_documents(run(100), run(100))));
}

TEST(Benchmarks, of_verdicts_state_the_bars_that_were_agreed) {
  EXPECT_EQ(verdict_aa().bar.limit.high, 100.0);
  EXPECT_EQ(verdict_power().bar.limit.low, 90.0);
  EXPECT_FALSE(verdict_power().bar.limit.high);
  EXPECT_EQ(verdict_compare_1m().bar.limit.high, 1.0);
  EXPECT_EQ(spawn_agentos_driver_overhead().bar.limit.high, 1.05);
}

}  // namespace
}  // namespace tare::benchmarks
