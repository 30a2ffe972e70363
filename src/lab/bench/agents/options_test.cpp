#include "lab/bench/agents/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace tare::agents_bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string refusal(const RawOptions& raw) {
  try {
    resolve(raw);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), exit_usage);
    return error.line();
  }
  return "accepted";
}

std::vector<std::string> rows(const RawOptions& raw) {
  std::vector<std::string> names;
  for (const driver::Workload& workload : workloads(resolve(raw))) names.push_back(workload.row);
  return names;
}

TEST(Options, defaults_are_the_seeds_but_for_ten_runs) {
  const Options options = resolve({});
  EXPECT_EQ(options.runs, 10U);
  EXPECT_EQ(options.warmup, 1U);
  EXPECT_THAT(options.fanout, ElementsAre(1, 8, 32, 64));
  EXPECT_THAT(options.sweep_rows, ElementsAre(32, 128, 512));
  EXPECT_TRUE(options.scale_rows.empty());
  EXPECT_EQ(options.timeout_ms, 300'000U);
  EXPECT_EQ(options.processes, 1U);
  EXPECT_THAT(options.targets, ElementsAre("embedded", "node"));
}

TEST(Options, rows_are_those_of_the_seed_in_its_order_and_then_the_new_ones) {
  RawOptions raw;
  raw.fanout = "1,8";
  raw.sweep_rows = "32";
  EXPECT_THAT(rows(raw),
              ElementsAre("spawnPipelineInMemory_1", "spawnPipelineInMemory_8", "spawnPipelineDurable_1",
                          "spawnPipelineDurable_8", "admission_1", "admission_8", "recoverySweep_32",
                          "duplicateSuppression_32", "spawnSettleEndToEnd_1", "spawnSettleEndToEnd_8",
                          "mixedLoad_1", "mixedLoad_8", "durableCrash_1000"));
}

TEST(Options, large_registries_are_measured_on_demand) {
  EXPECT_THAT(resolve({}).scenarios, Not(Contains("restartScale")));
  RawOptions raw;
  raw.scale_rows = "3,1000000";
  EXPECT_THAT(rows(raw), Contains("restartScale_1000000"));
  raw.scenarios = "sweepScale";
  EXPECT_THAT(rows(raw), ElementsAre("sweepScale_3", "sweepScale_1000000"));
  raw.scale_rows.reset();
  EXPECT_THAT(refusal(raw),
              HasSubstr("scenario 'sweepScale' has no sizes; say how many rows with --scale-rows"));
}

TEST(Options, numbers_out_of_range_are_refused_with_the_range) {
  const std::vector<std::tuple<std::optional<std::string> RawOptions::*, std::string, std::string>> cases = {
      {&RawOptions::runs, "0", "--runs must be 1 to 100, got 0"},
      {&RawOptions::runs, "101", "--runs must be 1 to 100, got 101"},
      {&RawOptions::runs, "2.5", "--runs must be 1 to 100, got 2.5"},
      {&RawOptions::runs, "", "--runs must be 1 to 100"},
      {&RawOptions::warmup, "21", "--warmup must be 0 to 20, got 21"},
      {&RawOptions::warmup, "-1", "--warmup must be 0 to 20, got -1"},
      {&RawOptions::fanout, "0", "--fanout must be 1 to 256, got 0"},
      {&RawOptions::fanout, "8,257", "--fanout must be 1 to 256, got 257"},
      {&RawOptions::sweep_rows, "4097", "--sweep-rows must be 1 to 4096, got 4097"},
      {&RawOptions::scale_rows, "2", "--scale-rows must be 3 to 1000000, got 2"},
      {&RawOptions::scale_rows, "1000001", "--scale-rows must be 3 to 1000000, got 1000001"},
      {&RawOptions::processes, "0", "--processes must be 1 to 1000, got 0"},
      {&RawOptions::timeout, "0", "--timeout must be 1 to 3600, got 0"},
      {&RawOptions::seed, "-1", "--seed must be 0 to"},
  };
  for (const auto& [member, text, expected] : cases) {
    RawOptions raw;
    raw.*member = text;
    EXPECT_THAT(refusal(raw), HasSubstr(expected)) << text;
  }
}

TEST(Options, lists_have_neither_empty_nor_repeated_items) {
  RawOptions raw;
  for (const char* bad : {"", "8,", ",8", "8,,32"}) {
    raw.fanout = bad;
    EXPECT_THAT(refusal(raw), HasSubstr("--fanout has an empty item")) << bad;
  }
  for (const char* bad : {"8,8", "8,08"}) {
    raw.fanout = bad;
    EXPECT_THAT(refusal(raw), HasSubstr("--fanout names '8' twice")) << bad;
  }
  raw = {};
  raw.sweep_rows = "32,32";
  EXPECT_THAT(refusal(raw), HasSubstr("--sweep-rows names '32' twice"));
  raw = {};
  raw.scenarios = "admission,admission";
  EXPECT_THAT(refusal(raw), HasSubstr("--scenarios names 'admission' twice"));
}

TEST(Options, an_unknown_scenario_gets_a_suggestion) {
  RawOptions raw;
  raw.scenarios = "admision";
  EXPECT_THAT(refusal(raw), HasSubstr("no scenario named 'admision' (known: spawnPipelineInMemory"));
  EXPECT_THAT(refusal(raw), HasSubstr("did you mean 'admission'?"));
  raw.scenarios = "admission_8";
  EXPECT_THAT(refusal(raw), HasSubstr("no scenario named 'admission_8'"));
}

TEST(Options, quick_has_few_sizes_and_a_flag_beats_it) {
  RawOptions raw;
  raw.quick = true;
  EXPECT_EQ(resolve(raw).runs, 10U);
  EXPECT_THAT(resolve(raw).fanout, ElementsAre(1, 64));
  EXPECT_THAT(resolve(raw).sweep_rows, ElementsAre(512));
  EXPECT_EQ(resolve(raw).mixed_ms, 200U);
  raw.fanout = "2";
  EXPECT_THAT(resolve(raw).fanout, ElementsAre(2));
}

TEST(Options, rows_that_kill_their_workers_have_no_warm_ups_and_are_few_in_a_quick_run) {
  Options options;
  const driver::Workload crash = driver::find_workload("durableCrash_1000").value();
  EXPECT_EQ(rounds_of(options, crash).runs, 10U);
  EXPECT_EQ(rounds_of(options, crash).warmup, 0U);
  options.quick = true;
  EXPECT_EQ(rounds_of(options, crash).runs, 3U);
  EXPECT_EQ(rounds_of(options, driver::find_workload("admission_8").value()).runs, 10U);
  EXPECT_EQ(rounds_of(options, driver::find_workload("admission_8").value()).warmup, 1U);
}

TEST(Options, a_state_folder_is_there_and_absolute) {
  const file::TemporaryFolder folder("tare-test");
  RawOptions raw;
  raw.state = folder.path().string();
  EXPECT_EQ(resolve(raw).state, folder.path().string());
  raw.state = (folder.path() / "none").string();
  EXPECT_THAT(refusal(raw), HasSubstr("--state: there is no folder"));
}

TEST(Options, a_resumed_run_keeps_its_options_and_refuses_others) {
  RawOptions raw;
  raw.runs = "7";
  const Options before = resolve(raw);
  EXPECT_EQ(resume(before, {}, "run.json").runs, 7U);
  EXPECT_EQ(resume(before, raw, "run.json").runs, 7U);
  raw.runs = "8";
  EXPECT_THROW(resume(before, raw, "run.json"), Error);
  Options damaged = before;
  damaged.runs = 101;
  EXPECT_THROW(resume(damaged, {}, "run.json"), Error);
  damaged = before;
  damaged.fanout = {0};
  EXPECT_THROW(resume(damaged, {}, "run.json"), Error);
  damaged = before;
  damaged.scenarios = {"none"};
  EXPECT_THROW(resume(damaged, {}, "run.json"), Error);
}

}  // namespace
}  // namespace tare::agents_bench
