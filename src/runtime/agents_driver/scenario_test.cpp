#include "runtime/agents_driver/scenario.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "base/file.hpp"
#include "runtime/agents_driver/world.hpp"
#include "serve/serve.hpp"

namespace tare::agents_driver {
namespace {

namespace fs = std::filesystem;
using testing::IsSupersetOf;
using testing::Pair;

class ScenarioTest : public testing::Test {
 protected:
  file::TemporaryFolder folder;

  Params params(std::uint32_t size) {
    Params params;
    params.size = size;
    params.nonce = "0123456789abcdef";
    params.dir = folder.path().string();
    params.duration_ms = 30;
    params.timeout_ms = 60'000;
    return params;
  }

  /// Two samples of a row, the second of which is judged, with nothing left in the folder.
  Sample second(const std::string& row, std::uint32_t size) {
    Sample sample;
    {
      const auto scenario = make_scenario(row, params(size));
      EXPECT_TRUE(scenario) << row;
      scenario->sample();
      sample = scenario->sample();
    }
    EXPECT_TRUE(fs::is_empty(folder.path())) << row;
    EXPECT_TRUE(sample.ns.contains("total"));
    return sample;
  }
};

TEST_F(ScenarioTest, spawn_pipelines_register_all_and_leave_nothing) {
  for (const std::uint32_t n : {1u, 64u, 256u}) {
    for (const bool durable : {false, true}) {
      const std::string row =
          (durable ? "spawnPipelineDurable_" : "spawnPipelineInMemory_") + std::to_string(n);
      EXPECT_EQ(second(row, n).counters,
                (std::map<std::string, std::int64_t>{{"registeredRuns", n},
                                                     {"uniqueRunIds", n},
                                                     {"reservationsReleased", n},
                                                     {"blockedWaits", n},
                                                     {"settledRuns", n},
                                                     {"settledTasks", n},
                                                     {"outstandingWaits", 0},
                                                     {"durableSubagentRows", durable ? n : 0},
                                                     {"durableTaskRows", durable ? n : 0},
                                                     {"durableStateFile", durable ? 1 : 0},
                                                     {"postTeardownRegistryRows", 0},
                                                     {"postTeardownTaskRows", 0},
                                                     {"postTeardownDurableSubagentRows", 0},
                                                     {"postTeardownDurableTaskRows", 0},
                                                     {"postTeardownActiveRootWork", 0}}))
          << row;
    }
  }
}

TEST_F(ScenarioTest, admission_grants_refuses_releases_and_grants_again) {
  EXPECT_EQ(second("admission_8", 8).counters,
            (std::map<std::string, std::int64_t>{{"admissionCap", 8},
                                                 {"overflowRejected", 1},
                                                 {"released", 8},
                                                 {"doubleReleaseHarmless", 1},
                                                 {"slotReused", 1}}));
}

TEST_F(ScenarioTest, sweeps_remove_the_old_and_project_the_interrupted) {
  for (const auto& [row, size, n] :
       {std::tuple{"recoverySweep_32", 32u, 32}, std::tuple{"sweepScale_100", 100u, 33}}) {
    EXPECT_EQ(second(row, size).counters, (std::map<std::string, std::int64_t>{{"seededRows", 3 * n},
                                                                               {"removedRows", 2 * n},
                                                                               {"retainedCurrent", n},
                                                                               {"sessionEffects", 0},
                                                                               {"recoveryProjections", n},
                                                                               {"lostContextCompletions", 0},
                                                                               {"repeatedProjections", 0}}));
  }
}

TEST_F(ScenarioTest, dedupes_select_the_newest) {
  for (const auto& [row, size, n] :
       {std::tuple{"duplicateSuppression_32", 32u, 32}, std::tuple{"dedupeScale_100", 100u, 33}}) {
    EXPECT_EQ(second(row, size).counters,
              (std::map<std::string, std::int64_t>{{"inputRowsPerOrdering", 3 * n},
                                                   {"newestFirstSelectedRows", n},
                                                   {"oldestFirstSelectedRows", n},
                                                   {"newestFirstSelectedNewest", n},
                                                   {"oldestFirstSelectedNewest", n}}));
  }
}

TEST_F(ScenarioTest, spawn_to_settled_tells_every_waiter_and_ends_every_row_on_disk) {
  const Sample sample = second("spawnSettleEndToEnd_16", 16);
  EXPECT_THAT(sample.counters, IsSupersetOf({Pair("registeredRuns", 16), Pair("waitersNotified", 16),
                                             Pair("settledRuns", 16), Pair("settledTasks", 16),
                                             Pair("durableEndedRows", 16), Pair("outstandingWaits", 0)}));
  EXPECT_EQ(sample.ns.at("total"), sample.ns.at("spawn") + sample.ns.at("settle"));
}

TEST_F(ScenarioTest, a_mixed_load_loses_no_run) {
  const auto counters = second("mixedLoad_8", 8).counters;
  EXPECT_GE(counters.at("cycles"), 8);
  for (const char* name : {"spawns", "waits", "settles"})
    EXPECT_EQ(counters.at(name), counters.at("cycles")) << name;
  EXPECT_GE(counters.at("sweeps"), 1);
  EXPECT_THAT(counters, IsSupersetOf({Pair("lostRuns", 0), Pair("outstandingWaits", 0),
                                      Pair("postTeardownRegistryRows", 0)}));
}

TEST_F(ScenarioTest, each_client_of_a_mixed_load_ends_the_cycle_that_it_began) {
  Params none = params(8);
  none.duration_ms = 0;
  const auto counters = make_scenario("mixedLoad_8", none)->sample().counters;
  for (const char* name : {"cycles", "spawns", "waits", "settles"}) EXPECT_EQ(counters.at(name), 8) << name;
}

TEST_F(ScenarioTest, a_restart_brings_every_row_back_interrupted) {
  EXPECT_EQ(second("restartScale_1000", 1000).counters,
            (std::map<std::string, std::int64_t>{{"restoredRuns", 1000}, {"interruptedRuns", 1000}}));
}

TEST_F(ScenarioTest, runs_that_were_registered_are_there_for_the_next_process) {
  const fs::path acks = folder.path() / "acks";
  ASSERT_EQ(::mkfifo(acks.c_str(), 0600), 0);
  Params task = params(100);
  task.phase = "register";
  task.acks = acks.string();
  std::vector<std::string> acknowledged;
  EXPECT_THROW(make_scenario("durableCrash_100", task)->sample(), Error);  // nobody reads
  // The pipe holds a hundred lines.
  const Fd reader(::open(acks.c_str(), O_RDONLY | O_NONBLOCK));
  EXPECT_EQ(make_scenario("durableCrash_100", task)->sample().counters.at("registeredRuns"), 100);
  char bytes[8192];
  const ssize_t size = ::read(reader.get(), bytes, sizeof bytes);
  std::istringstream lines(std::string(bytes, static_cast<std::size_t>(std::max<ssize_t>(size, 0))));
  for (std::string line; std::getline(lines, line);) acknowledged.push_back(line);
  fs::remove(acks);
  EXPECT_EQ(acknowledged.size(), 100u);
  task.phase = "recover";
  const Sample sample = make_scenario("durableCrash_100", task)->sample();
  EXPECT_EQ(sample.counters.at("restoredRuns"), 100);
  EXPECT_EQ(sample.counters.at("interruptedRuns"), 100);
  for (const std::string& label : acknowledged)
    EXPECT_THAT(*sample.output, testing::HasSubstr(label + " interrupted "));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

/// Every row that keeps something on disk.
constexpr std::array durable_rows{"spawnPipelineDurable_4", "spawnSettleEndToEnd_4", "mixedLoad_4",
                                  "restartScale_4", "durableCrash_4"};

/// The words with which a folder is refused.
std::string refusal_of(const char* row, Params params) {
  params.phase = "register";
  params.acks = *params.dir + "/acks";
  try {
    make_scenario(row, params);
  } catch (const Error& error) {
    return fmt::format("{}: {}", error.what(), error.why());
  }
  return "not refused";
}

TEST_F(ScenarioTest, somebodys_runs_are_refused_and_left) {
  const fs::path path = folder.path() / "registry.sqlite";
  {
    agents::Database database({path});
    agents::Run run;
    run.id = 1;
    const std::vector<std::vector<agents::Change>> batch{{agents::Insert{run}}};
    database.commit(batch);
  }
  const std::string before = file::read(path);
  for (const char* row : durable_rows) {
    const std::string said = refusal_of(row, params(4));
    EXPECT_THAT(said, testing::HasSubstr(folder.path().string())) << row;
    EXPECT_THAT(said, testing::HasSubstr("not empty: it holds registry.sqlite")) << row;
  }
  EXPECT_EQ(file::read(path), before);
}

TEST_F(ScenarioTest, a_folder_that_holds_something_is_refused_and_left) {
  file::write_atomically(folder.path() / "notes.txt", "mine");
  for (const char* row : durable_rows) {
    EXPECT_THAT(refusal_of(row, params(4)), testing::HasSubstr("not empty: it holds notes.txt")) << row;
  }
  Params recovery = params(4);
  recovery.phase = "recover";
  EXPECT_THROW(make_scenario("durableCrash_4", recovery), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
  EXPECT_TRUE(make_scenario("admission_4", params(4))) << "it has no use for a folder";
}

TEST_F(ScenarioTest, a_database_without_tables_is_somebodys_too) {
  const fs::path path = folder.path() / "registry.sqlite";
  std::ofstream(path).flush();
  EXPECT_THAT(refusal_of("restartScale_4", params(4)), testing::HasSubstr("it holds registry.sqlite"));
  EXPECT_EQ(fs::file_size(path), 0u);
}

TEST_F(ScenarioTest, a_damaged_database_is_refused_for_what_it_is) {
  file::write_atomically(folder.path() / "registry.sqlite", std::string(5000, 'x'));
  EXPECT_THAT(refusal_of("mixedLoad_4", params(4)), testing::HasSubstr("not a database"));
}

TEST_F(ScenarioTest, a_folder_that_is_not_there_is_refused_and_not_made) {
  Params missing = params(4);
  missing.dir = (folder.path() / "none").string();
  for (const char* row : durable_rows)
    EXPECT_THAT(refusal_of(row, missing), testing::HasSubstr("none")) << row;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST_F(ScenarioTest, a_named_pipe_in_the_folder_does_no_harm) {
  ASSERT_EQ(::mkfifo((folder.path() / "acks").c_str(), 0600), 0);
  EXPECT_EQ(make_scenario("spawnPipelineDurable_4", params(4))->sample().counters.at("registeredRuns"), 4);
}

TEST_F(ScenarioTest, rows_that_could_not_all_be_written_are_removed) {
  ::rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  const ::rlimit small{1 << 20, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(make_scenario("restartScale_10000", params(10'000)), Error);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST_F(ScenarioTest, a_world_ends_with_its_budget) {
  World world(std::nullopt, std::chrono::milliseconds(0));
  world.start(world.backend.initialize({}));
  EXPECT_THROW(world.run(), Late);
}

TEST_F(ScenarioTest, unknown_rows_and_missing_parameters_are_refused) {
  EXPECT_FALSE(make_scenario("admission", params(1)));
  EXPECT_FALSE(make_scenario("admission_0", params(1)));
  EXPECT_FALSE(make_scenario("nothing_8", params(8)));
  EXPECT_THROW(make_scenario("admission_8", Params{}), serve::Refusal);
  EXPECT_THROW(make_scenario("admission_8", params(0)), serve::Refusal);
  EXPECT_THROW(make_scenario("admission_8", params(7)), serve::Refusal) << "the row has another size";
  Params without_budget = params(8);
  without_budget.timeout_ms = 0;
  EXPECT_THROW(make_scenario("admission_8", without_budget), serve::Refusal);
  EXPECT_THROW(make_scenario("durableCrash_8", params(8)), serve::Refusal);
  Params without_folder = params(8);
  without_folder.dir.reset();
  EXPECT_THROW(make_scenario("spawnPipelineDurable_8", without_folder), serve::Refusal);
}

}  // namespace
}  // namespace tare::agents_driver
