#include "lab/driver/agents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::driver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(AgentRows, are_made_of_a_scenario_and_a_size) {
  const auto admission = agents_workload("admission", 64);
  ASSERT_TRUE(admission);
  EXPECT_EQ(admission->row, "admission_64");
  EXPECT_EQ(admission->bench, agents_bench);
  EXPECT_EQ(admission->work, Work::admission);
  EXPECT_EQ(admission->size, 64);
  EXPECT_FALSE(admission->is_cold());
  EXPECT_THAT(admission->metrics, ElementsAre("total"));
  EXPECT_THAT(admission->sizes, ElementsAre("rssStartBytes", "rssEndBytes", "processMaxRssBytes"));
  EXPECT_THAT(agents_workload("spawnSettleEndToEnd", 1)->metrics, ElementsAre("total", "spawn", "settle"));
}

TEST(AgentRows, are_found_by_the_name_that_they_were_given) {
  for (const AgentScenario& scenario : agent_scenarios()) {
    for (const std::int64_t size : {scenario.smallest, scenario.largest}) {
      const Workload made = agents_workload(scenario.name, size).value();
      const auto found = find_workload(made.row);
      ASSERT_TRUE(found) << made.row;
      EXPECT_EQ(found->work, scenario.work);
      EXPECT_EQ(found->size, size);
      EXPECT_EQ(scenario_of(made.row)->name, scenario.name);
    }
    EXPECT_FALSE(agents_workload(scenario.name, scenario.smallest - 1)) << scenario.name;
    EXPECT_FALSE(agents_workload(scenario.name, scenario.largest + 1)) << scenario.name;
  }
  EXPECT_FALSE(agents_workload("no_such_scenario", 8));
}

TEST(AgentRows, have_the_limits_of_their_lists) {
  const auto limits = [](std::string_view scenario) {
    const AgentScenario found = scenario_of(std::string(scenario) + "_1").value();
    return std::pair(found.smallest, found.largest);
  };
  EXPECT_EQ(limits("spawnPipelineDurable"), std::pair(1L, 256L));
  EXPECT_EQ(limits("recoverySweep"), std::pair(1L, 4096L));
  EXPECT_EQ(limits("restartScale"), std::pair(3L, 1'000'000L));
  EXPECT_GE(limits("durableCrash").second, crash_runs);
}

TEST(AgentRows, come_in_the_order_of_a_report) {
  EXPECT_THAT(
      row_names(agents_bench),
      ElementsAre("spawnPipelineInMemory_<n>", "spawnPipelineDurable_<n>", "admission_<n>",
                  "recoverySweep_<n>", "duplicateSuppression_<n>", "spawnSettleEndToEnd_<n>", "mixedLoad_<n>",
                  "durableCrash_<n>", "sweepScale_<n>", "dedupeScale_<n>", "restartScale_<n>"));
}

TEST(AgentRows, are_no_rows_of_the_spawn_bench) {
  EXPECT_TRUE(find_workload("admission_8", agents_bench));
  EXPECT_FALSE(find_workload("admission_8", spawn_bench));
  EXPECT_TRUE(find_workload("fanout_8", spawn_bench));
  EXPECT_FALSE(find_workload("fanout_8", agents_bench));
  for (const char* bad : {"admission", "admission_", "admission_0", "admission_08", "admission_257",
                          "admission_<n>", "admission_8_8", "Admission_8", "restartScale_2", "_8"})
    EXPECT_FALSE(find_workload(bad)) << bad;
}

TEST(AgentParams, give_size_nonce_and_folder) {
  const Workload row = agents_workload("recoverySweep", 32).value();
  const json::Object params = make_params(row, 0xabc, "/state");
  EXPECT_EQ(params, (json::Object{{"size", 32}, {"nonce", "0000000000000abc"}, {"dir", "/state"}}));
  EXPECT_NE(make_params(row, 1, "/state"), make_params(row, 2, "/state"));
}

TEST(AgentParams, of_a_mixed_load_say_how_long) {
  EXPECT_EQ(make_params(agents_workload("mixedLoad", 8).value(), 1, "/state").at("durationMs"), 1000);
}

TEST(AgentParams, of_a_crash_have_two_phases_in_one_folder) {
  const Workload crash = agents_workload("durableCrash", crash_runs).value();
  const json::Object first = register_params(crash, 1, "/state", "/acks");
  EXPECT_EQ(first.at("phase"), "register");
  EXPECT_EQ(first.at("acks"), "/acks");
  const json::Object second = recover_params(crash, 2, "/state");
  EXPECT_EQ(second.at("phase"), "recover");
  EXPECT_EQ(second.at("dir"), first.at("dir"));
  EXPECT_FALSE(second.contains("acks"));
}

TEST(AgentParams, of_a_crash_name_each_run_and_tell_it_what_to_do) {
  EXPECT_EQ(crash_label("00ff", 12), "00ff-12");
  EXPECT_EQ(crash_task(0), std::string(100, 'a'));
  EXPECT_EQ(crash_task(27), std::string(100, 'b'));
}

}  // namespace
}  // namespace tare::driver
