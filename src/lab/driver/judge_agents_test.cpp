#include "lab/driver/judge_agents.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "lab/driver/agents.hpp"

namespace tare::driver {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Counts = std::map<std::string, std::optional<std::int64_t>>;

const Counts torn_down = {{"postTeardownRegistryRows", 0},
                          {"postTeardownTaskRows", 0},
                          {"postTeardownDurableSubagentRows", 0},
                          {"postTeardownDurableTaskRows", 0},
                          {"postTeardownActiveRootWork", 0}};

Counts with(Counts counts, const Counts& more) {
  counts.insert(more.begin(), more.end());
  return counts;
}

Counts pipeline(std::int64_t n, std::int64_t rows, std::int64_t files) {
  return with({{"registeredRuns", n},
               {"uniqueRunIds", n},
               {"reservationsReleased", n},
               {"blockedWaits", n},
               {"settledRuns", n},
               {"settledTasks", n},
               {"outstandingWaits", 0},
               {"durableSubagentRows", rows},
               {"durableTaskRows", rows},
               {"durableStateFile", files}},
              torn_down);
}

Counts sweep(std::int64_t children) {
  return {{"seededRows", 3 * children}, {"removedRows", 2 * children},     {"retainedCurrent", children},
          {"sessionEffects", 0},        {"recoveryProjections", children}, {"lostContextCompletions", 0},
          {"repeatedProjections", 0}};
}

Counts dedupe(std::int64_t children) {
  return {{"inputRowsPerOrdering", 3 * children},
          {"newestFirstSelectedRows", children},
          {"oldestFirstSelectedRows", children},
          {"newestFirstSelectedNewest", children},
          {"oldestFirstSelectedNewest", children}};
}

/// A row and what a registry counts that does everything right.
struct Right {
  std::string row;
  Counts counts;
};

class AgentsJudge : public testing::TestWithParam<Right> {
 protected:
  AgentsJudge() : workload_(find_workload(GetParam().row).value()) {
    params_ = make_params(workload_, 1, folder_.path());
    sample_.counters = GetParam().counts;
  }

  std::vector<std::string> broken() const {
    std::vector<std::string> ids;
    for (const Judgement& judgement : judge(workload_, params_, sample_)) {
      if (!judgement.ok) ids.push_back(judgement.id);
    }
    return ids;
  }

  const file::TemporaryFolder folder_;
  Workload workload_;
  json::Object params_;
  Sample sample_;
};

TEST_P(AgentsJudge, finds_nothing_in_what_is_right) {
  EXPECT_THAT(broken(), IsEmpty());
}

TEST_P(AgentsJudge, judges_every_counter_by_its_name_and_the_folder) {
  std::vector<std::string> ids;
  for (const Judgement& judgement : judge(workload_, params_, sample_)) ids.push_back(judgement.id);
  std::vector<std::string> expected = {"nothing_left"};
  for (const auto& [name, value] : GetParam().counts) expected.push_back(name);
  EXPECT_THAT(ids, testing::UnorderedElementsAreArray(expected));
}

TEST_P(AgentsJudge, finds_each_counter_that_is_wrong_or_missing) {
  for (const auto& [name, right] : GetParam().counts) {
    // Too many of them is no fault where only the least is known.
    const bool only_least = name == "cycles" || name == "sweeps";
    for (const std::int64_t wrong : {right.value() - 1, right.value() + 1}) {
      if (only_least && wrong > 0) continue;
      sample_.counters[name] = wrong;
      EXPECT_THAT(broken(), Contains(name)) << wrong;
      if (name != "cycles") {
        EXPECT_THAT(broken(), ElementsAre(name));
      }
    }
    sample_.counters[name] = std::nullopt;
    EXPECT_THAT(broken(), Contains(name));
    sample_.counters.erase(name);
    EXPECT_THAT(broken(), Contains(name));
    sample_.counters[name] = right;
  }
}

TEST_P(AgentsJudge, finds_what_is_left_in_the_folder) {
  std::ofstream(folder_.path() / "state.db-wal") << "x";
  EXPECT_THAT(broken(), ElementsAre("nothing_left"));
  EXPECT_THAT(judge(workload_, params_, sample_).back().actual, HasSubstr("state.db-wal"));
  std::filesystem::remove_all(folder_.path());
  EXPECT_THAT(broken(), ElementsAre("nothing_left")) << "the folder itself is gone";
}

TEST_P(AgentsJudge, expects_the_same_in_every_sample) {
  const auto first = judge(workload_, params_, sample_);
  const auto second = judge(workload_, make_params(workload_, 2, "/nowhere"), Sample{});
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].id, second[i].id);
    EXPECT_EQ(first[i].expected, second[i].expected);
  }
}

TEST_P(AgentsJudge, has_nothing_to_say_of_a_sample_that_is_not_ok) {
  sample_.outcome = Outcome::failed;
  EXPECT_THAT(judge(workload_, params_, sample_), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Rows, AgentsJudge,
    testing::Values(Right{"spawnPipelineInMemory_4", pipeline(4, 0, 0)},
                    Right{"spawnPipelineDurable_4", pipeline(4, 4, 1)},
                    Right{"admission_4",
                          {{"admissionCap", 4},
                           {"overflowRejected", 1},
                           {"released", 4},
                           {"doubleReleaseHarmless", 1},
                           {"slotReused", 1}}},
                    Right{"recoverySweep_4", sweep(4)}, Right{"duplicateSuppression_4", dedupe(4)},
                    Right{"spawnSettleEndToEnd_4", with({{"registeredRuns", 4},
                                                         {"waitersNotified", 4},
                                                         {"settledRuns", 4},
                                                         {"settledTasks", 4},
                                                         {"outstandingWaits", 0},
                                                         {"durableEndedRows", 4}},
                                                        torn_down)},
                    Right{"mixedLoad_4", with({{"cycles", 1},
                                               {"spawns", 1},
                                               {"waits", 1},
                                               {"settles", 1},
                                               {"sweeps", 1},
                                               {"outstandingWaits", 0},
                                               {"lostRuns", 0}},
                                              torn_down)},
                    Right{"sweepScale_14", sweep(4)}, Right{"dedupeScale_14", dedupe(4)},
                    Right{"restartScale_14", {{"restoredRuns", 14}, {"interruptedRuns", 14}}}),
    [](const auto& test) { return test.param.row; });

}  // namespace
}  // namespace tare::driver
