#include "lab/bench/spawn/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::spawn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

driver::Stages counted(std::map<std::string, driver::StageCount> stages) {
  return {std::move(stages), {}};
}

/// As if every stage had been passed so often.
driver::Stages all(std::uint64_t parents, std::uint64_t children) {
  driver::Stages stages;
  for (const char* name : {"kernel_spawn_process", "process_register_and_lifecycle", "process_exit_cleanup",
                           "process_exit_cleanup_wait_and_reap", "execute_response_to_exit_event_queued"}) {
    stages.stages[name].calls = parents;
  }
  for (const char* name : {"child_process_spawn_total", "child_process_spawn_and_start_execution",
                           "child_process_register", "child_process_exit_cleanup"}) {
    stages.stages[name].calls = children;
  }
  return stages;
}

std::vector<std::string> broken(std::string_view row, const driver::Stages& before,
                                const driver::Stages& after, std::uint64_t operations) {
  std::vector<std::string> ids;
  for (const report::Invariant& one :
       coverage(driver::find_workload(row).value(), before, after, operations)) {
    if (!one.ok) ids.push_back(one.id);
  }
  return ids;
}

TEST(Trace, figures_are_what_happened_in_between) {
  const auto stages =
      stages_between(counted({{"a", {10, 100, 50}}, {"idle", {3, 9, 5}}}),
                     counted({{"a", {14, 300, 80}}, {"idle", {3, 9, 5}}, {"new", {2, 6, 4}}}));
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages.at("a").calls, 4U);
  EXPECT_EQ(stages.at("a").total_us, 200);
  EXPECT_EQ(stages.at("a").avg_us, 50);
  EXPECT_EQ(stages.at("a").max_us, 80);
  EXPECT_EQ(stages.at("new").calls, 2U);
}

TEST(Trace, every_process_passes_every_stage) {
  EXPECT_THAT(broken("node_exit_1", all(5, 0), all(27, 0), 22), IsEmpty());
  EXPECT_EQ(broken("node_exit_1", all(5, 0), all(26, 0), 22).size(), 5U);
  EXPECT_THAT(broken("fanout_8", all(0, 0), all(176, 0), 22), IsEmpty());
  EXPECT_EQ(broken("fanout_8", all(0, 0), all(175, 0), 22).size(), 5U);
  EXPECT_THAT(broken("nested_8", all(0, 0), all(22, 176), 22), IsEmpty());
  EXPECT_EQ(broken("nested_8", all(0, 0), all(22, 175), 22).size(), 4U);
}

TEST(Trace, a_stage_that_was_never_recorded_is_not_covered) {
  driver::Stages after = all(22, 0);
  after.stages.erase("process_exit_cleanup");
  after.absent.emplace()["process_exit_cleanup"] = "not recorded";
  EXPECT_THAT(broken("node_exit_1", {}, after, 22), ElementsAre("trace_process_exit_cleanup"));
}

TEST(Trace, clean_rows_skip_the_sync_and_the_writing_row_never_does) {
  const std::string skip = "process_exit_cleanup_sync_host_writes_clean_skip";
  driver::Stages skipped = all(22, 0);
  skipped.stages[skip].calls = 22;
  EXPECT_THAT(broken("host_cwd_no_write", {}, skipped, 22), IsEmpty());
  EXPECT_THAT(broken("host_cwd_no_write", {}, all(22, 0), 22), ElementsAre("trace_" + skip));
  EXPECT_THAT(broken("host_cwd_write_1file", {}, all(22, 0), 22), IsEmpty());
  EXPECT_THAT(broken("host_cwd_write_1file", {}, skipped, 22), ElementsAre("trace_" + skip));
}

TEST(Trace, counts_that_fall_cover_nothing) {
  EXPECT_EQ(broken("node_exit_1", all(30, 0), all(5, 0), 22).size(), 5U);
}

TEST(Trace, lives_are_counted_and_the_gap_of_the_wait_is_what_nothing_accounts_for) {
  driver::Lifecycle one;
  one.route = "own_read";
  one.first_waiter = "poll_event";
  one.waiters = {{"poll_event", 2}};
  one.ns = {{"ts_wait_total", 10e6}, {"ts_wait_blocked_on_start", 4e6}};
  driver::Lifecycle other = one;
  other.route = "already_known";
  other.ns = {{"ts_wait_total", 3e6}};
  EXPECT_FALSE(lifecycle_of({}, {}).has_value());
  const auto all = lifecycle_of({one, other}, {{"ts_mount_wait", "none"}, {"process_exit_cleanup", "none"}});
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->processes, 2U);
  EXPECT_EQ(all->resolution_routes.at("own_read"), 1U);
  EXPECT_EQ(all->resolution_routes.at("already_known"), 1U);
  EXPECT_EQ(all->first_waiters.at("poll_event"), 2U);
  EXPECT_EQ(all->waiter_sources.at("poll_event"), 4U);
  EXPECT_EQ(all->sub_phases.at("ts_wait_total")->max, 10);
  EXPECT_FALSE(all->sub_phases.at("ts_wait_total")->p95.has_value()) << "two cannot carry it";
  EXPECT_EQ(all->sub_phases.at("ts_wait_unattributed_gap")->p50, 3);
  EXPECT_EQ(all->sub_phases.at("ts_wait_unattributed_gap")->max, 6);
  EXPECT_FALSE(all->sub_phases.at("ts_mount_wait").has_value());
  EXPECT_FALSE(all->sub_phases.contains("process_exit_cleanup"));
}

TEST(Trace, is_short_whatever_the_run) {
  Options options;
  EXPECT_EQ(trace_rounds(options).iterations, 20U);
  EXPECT_EQ(trace_rounds(options).warmup, 2U);
  options.iterations = 3;
  EXPECT_EQ(trace_rounds(options).iterations, 3U);
}

}  // namespace
}  // namespace tare::spawn
