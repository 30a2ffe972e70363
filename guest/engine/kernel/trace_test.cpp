#include "engine/kernel/trace.hpp"

#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "engine/kernel/kernel_testing.hpp"

namespace tare::kernel {
namespace {

Trace::Count count_of(const Trace& trace, Stage stage) {
  return trace.counts()[static_cast<std::size_t>(stage)];
}

TEST(Trace, sums_and_keeps_the_longest) {
  Trace trace;
  trace.record(Stage::js_start_main, Nanoseconds(300));
  trace.record(Stage::js_start_main, Nanoseconds(900));
  trace.record(Stage::js_start_main, Nanoseconds(100));
  const Trace::Count count = count_of(trace, Stage::js_start_main);
  EXPECT_EQ(count.calls, 3U);
  EXPECT_EQ(count.total_ns, 1300U);
  EXPECT_EQ(count.max_ns, 900U);
  EXPECT_EQ(count_of(trace, Stage::js_event_turn).calls, 0U);
}

TEST(Trace, loses_nothing_between_threads) {
  Trace trace;
  constexpr std::uint64_t each = 10'000;
  const auto work = [&](std::int64_t longest) {
    for (std::uint64_t i = 0; i < each; ++i) trace.record(Stage::js_event_turn, Nanoseconds(longest));
  };
  std::thread one(work, 5);
  std::thread other(work, 7);
  one.join();
  other.join();
  const Trace::Count count = count_of(trace, Stage::js_event_turn);
  EXPECT_EQ(count.calls, 2 * each);
  EXPECT_EQ(count.total_ns, 12 * each);
  EXPECT_EQ(count.max_ns, 7U);
}

TEST(Trace, a_stopwatch_without_a_trace_does_nothing) {
  const Stopwatch watch(nullptr);
  watch.record(Stage::js_start_main);
  watch.count(Stage::js_start_main);
}

/// The process passes every stage of the kernel before its end is told.
TEST(Trace, a_process_and_its_child_are_counted_before_they_are_told_of) {
  const SystemClock clock;
  const auto trace = std::make_shared<Trace>();
  const auto calls = [&](Stage stage) { return count_of(*trace, stage).calls; };
  Vm::Options options;
  options.permissions.child_process = Permission::allow;
  options.trace = trace;
  const auto vm = Vm::create(options, clock, std::make_shared<testing::Idle>());
  SpawnRequest request = testing::command({"node"});
  std::uint64_t told_of = 0;
  request.on_exit = [&](int, const Exit&) { told_of = calls(Stage::process_exit_cleanup); };
  const auto parent = *vm->processes().create(nullptr, std::move(request));
  const auto child = *vm->processes().create(parent, testing::command({"node"}));
  EXPECT_EQ(calls(Stage::kernel_spawn_process), 1U);
  EXPECT_EQ(calls(Stage::child_process_spawn_and_start_execution), 1U);
  EXPECT_EQ(calls(Stage::child_process_register), 1U);
  child->post_exit(Exit::with_code(0));
  EXPECT_EQ(calls(Stage::child_process_exit_cleanup), 1U);
  EXPECT_EQ(calls(Stage::process_exit_cleanup), 0U);
  parent->post_exit(Exit::with_code(0));
  EXPECT_EQ(told_of, 1U);
  EXPECT_EQ(calls(Stage::process_exit_cleanup_wait_and_reap), 1U);
  EXPECT_EQ(calls(Stage::process_exit_cleanup_sync_host_writes_clean_skip), 2U);
}

TEST(Trace, every_stage_has_a_name_of_its_own_and_says_what_it_covers) {
  std::set<std::string_view> names;
  for (const StageText& stage : stage_table) {
    EXPECT_TRUE(names.insert(stage.name).second) << stage.name;
    EXPECT_FALSE(stage.covers.empty()) << stage.name;
  }
}

}  // namespace
}  // namespace tare::kernel
