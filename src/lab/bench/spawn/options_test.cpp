#include "lab/bench/spawn/options.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace tare::spawn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

bench::Environment variables(std::map<std::string, std::string, std::less<>> values) {
  return [values = std::move(values)](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

std::string refusal(const RawOptions& raw, const bench::Environment& environment = variables({})) {
  try {
    resolve(raw, environment);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), exit_usage);
    return error.line();
  }
  return "accepted";
}

TEST(Options, defaults_are_the_seeds) {
  const Options options = resolve({}, variables({}));
  EXPECT_EQ(options.iterations, 200U);
  EXPECT_EQ(options.warmup, 20U);
  EXPECT_EQ(options.processes, 1U);
  EXPECT_EQ(options.timeout_ms, 30'000U);
  EXPECT_THAT(options.fanout, ElementsAre(1, 8, 32));
  EXPECT_THAT(options.guests, ElementsAre(1, 4, 16, 64));
  EXPECT_THAT(options.targets, ElementsAre("native", "sh", "node"));
  EXPECT_EQ(options.rows.front(), "node_exit_1");
}

TEST(Options, quick_is_twenty_samples_and_small_fan_outs) {
  RawOptions raw;
  raw.quick = true;
  const Options options = resolve(raw, variables({{"BENCH_ITERATIONS", "7"}}));
  EXPECT_EQ(options.iterations, 20U);
  EXPECT_EQ(options.warmup, 2U);
  EXPECT_THAT(options.fanout, ElementsAre(1, 8));
  EXPECT_THAT(options.guests, ElementsAre(1, 4));
  for (const char* left_out : {"reap_storm_32", "memory_16", "growth_1000"})
    EXPECT_THAT(options.rows, ::testing::Not(::testing::Contains(left_out)));
  raw.iterations = "9";
  EXPECT_EQ(resolve(raw, variables({})).iterations, 9U);
}

TEST(Options, a_flag_beats_the_environment) {
  RawOptions raw;
  const auto environment = variables({{"BENCH_ITERATIONS", "5"}, {"BENCH_WARMUP", "2"}});
  EXPECT_EQ(resolve(raw, environment).iterations, 5U);
  EXPECT_EQ(resolve(raw, environment).warmup, 2U);
  raw.iterations = "6";
  EXPECT_EQ(resolve(raw, environment).iterations, 6U);
}

TEST(Options, environment_can_leave_the_extra_rows_out) {
  const auto environment = variables({{"BENCH_PROCESS_LIFECYCLE_SKIP_EXTRA_ROWS", "1"}});
  const Options options = resolve({}, environment);
  for (const char* extra :
       {"fanout_1", "fanout_32", "nested_8", "host_cwd_write_1file", "root_cwd_no_write"}) {
    EXPECT_THAT(options.rows, ::testing::Not(::testing::Contains(extra)));
  }
  EXPECT_THAT(options.rows, ::testing::Contains("fanout_8"));
}

TEST(Options, trace_can_come_from_the_environment) {
  EXPECT_TRUE(resolve({}, variables({{"BENCH_PROCESS_LIFECYCLE_TRACE", "1"}})).trace);
  EXPECT_FALSE(resolve({}, variables({{"BENCH_PROCESS_LIFECYCLE_TRACE", "0"}})).trace);
}

TEST(Options, numbers_out_of_range_are_refused_with_the_range) {
  RawOptions raw;
  for (const char* bad : {"0", "100001", "-1", "2.5", "ten", ""}) {
    raw.iterations = bad;
    EXPECT_THAT(refusal(raw), HasSubstr("tare: --iterations must be 1 to 100000, got ")) << bad;
  }
  raw = {};
  raw.timeout = "0";
  EXPECT_THAT(refusal(raw), HasSubstr("--timeout must be 1 to 3600, got 0"));
  raw = {};
  raw.processes = "0";
  EXPECT_THAT(refusal(raw), HasSubstr("--processes must be 1 to 1000"));
  EXPECT_THAT(refusal({}, variables({{"BENCH_ITERATIONS", "many"}})),
              HasSubstr("BENCH_ITERATIONS must be 1 to 100000, got many"));
}

TEST(Options, lists_have_neither_empty_nor_repeated_items) {
  RawOptions raw;
  raw.rows = "node_exit_1,";
  EXPECT_THAT(refusal(raw), HasSubstr("--rows has an empty item"));
  raw.rows = "node_exit_1,node_exit_1";
  EXPECT_THAT(refusal(raw), HasSubstr("--rows names 'node_exit_1' twice"));
  raw = {};
  raw.fanout = "8,08";
  EXPECT_THAT(refusal(raw), HasSubstr("--fanout names '8' twice"));
  raw.fanout = "8,0";
  EXPECT_THAT(refusal(raw), HasSubstr("--fanout must be 1 to 1000, got 0"));
  raw = {};
  raw.guests = "4,1001";
  EXPECT_THAT(refusal(raw), HasSubstr("--guests must be 1 to 1000, got 1001"));
  raw = {};
  raw.targets = "";
  EXPECT_THAT(refusal(raw), HasSubstr("--targets has an empty item"));
  raw.targets = "node,node";
  EXPECT_THAT(refusal(raw), HasSubstr("--targets names 'node' twice"));
  raw.targets = "node";
  raw.extra_targets = {"node=cmd:true"};
  EXPECT_THAT(refusal(raw), HasSubstr("target 'node' is named twice"));
}

TEST(Options, rows_may_name_any_fan_out_and_unknown_ones_get_a_suggestion) {
  RawOptions raw;
  raw.rows = "fanout_16, node_exit_1";
  EXPECT_THAT(resolve(raw, variables({})).rows, ElementsAre("fanout_16", "node_exit_1"));
  raw.rows = "memory_2,growth_10";
  EXPECT_THAT(resolve(raw, variables({})).rows, ElementsAre("memory_2", "growth_10"));
  raw.rows = "fanout_0";
  EXPECT_THAT(refusal(raw), HasSubstr("no row named 'fanout_0'"));
  raw.rows = "fanout_1001";
  EXPECT_THAT(refusal(raw), HasSubstr("no row named 'fanout_1001'"));
  raw.rows = "nested8";
  EXPECT_THAT(refusal(raw), HasSubstr("did you mean 'nested_8'?"));
}

TEST(Options, a_resumed_run_keeps_its_options_and_refuses_others) {
  RawOptions raw;
  raw.iterations = "50";
  const Options before = resolve(raw, variables({}));
  EXPECT_EQ(resume(before, {}, "run.json").iterations, 50U);
  EXPECT_EQ(resume(before, raw, "run.json").iterations, 50U);
  raw.iterations = "60";
  try {
    resume(before, raw, "run.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.line(),
              "tare: cannot resume run.json (it was run with another --iterations); leave the flag out, or "
              "start a new "
              "run with --output");
  }
}

TEST(Options, a_resumed_run_is_held_to_the_limits_of_the_flags) {
  Options before = resolve({}, variables({}));
  before.iterations = 100'001;
  EXPECT_THROW(resume(before, {}, "run.json"), Error);
  before.iterations = 200;
  before.rows.emplace_back("no_such_row");
  EXPECT_THROW(resume(before, {}, "run.json"), Error);
}

TEST(Options, rows_that_start_a_runtime_have_a_tenth_of_the_rounds) {
  const auto rounds = [](const char* row, std::uint64_t iterations) {
    Options options;
    options.iterations = iterations;
    return rounds_of(options, driver::find_workload(row).value()).iterations;
  };
  EXPECT_EQ(rounds("node_exit_1", 200), 200U);
  EXPECT_EQ(rounds("cold_start", 200), 20U);
  EXPECT_EQ(rounds("memory_4", 200), 6U);
  EXPECT_EQ(rounds("memory_4", 3), 3U);
  EXPECT_EQ(rounds("growth_1000", 200), 3U);
}

TEST(Options, a_row_of_many_processes_has_ten_times_the_limit) {
  const Options options;
  EXPECT_EQ(timeout_of(options, driver::find_workload("memory_64").value()), options.timeout());
  EXPECT_EQ(timeout_of(options, driver::find_workload("growth_1000").value()), options.timeout() * 10);
}

TEST(Options, guests_alive_are_a_row_each) {
  RawOptions raw;
  raw.guests = "2,8";
  EXPECT_THAT(resolve(raw, variables({})).rows, ::testing::IsSupersetOf({"memory_2", "memory_8"}));
  EXPECT_THAT(resolve(raw, variables({})).rows, ::testing::Not(::testing::Contains("memory_4")));
}

}  // namespace
}  // namespace tare::spawn
