#include "lab/driver/check.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.hpp"
#include "lab/driver/agents.hpp"
#include "lab/driver/registry.hpp"
#include "lab/process/tree.hpp"

namespace tare::driver {
namespace {

using testing::Contains;
using testing::IsEmpty;

constexpr const char* python = "/usr/bin/python3";
const std::string drivers = TARE_GOLDEN_DIR "/../drivers/";

CheckOptions fast() {
  CheckOptions options;
  options.sizes.fanouts = {2};
  options.driver.hello_timeout = std::chrono::seconds(20);
  options.driver.bye_timeout = std::chrono::seconds(2);
  return options;
}

/// The pinned Node, else the one on PATH; empty when there is none at all.
std::filesystem::path any_node() {
  const std::filesystem::path pinned = node_program({});
  return std::filesystem::exists(pinned) ? pinned : file::find_program("node");
}

/// The ids of the checks that a driver fails.
std::vector<std::string> failures(const std::vector<std::string>& argv,
                                  const CheckOptions& options = fast()) {
  DriverCommand command{"mine", argv, {}, {}};
  command.env["PATH"] = any_node().parent_path().string() + ":/usr/bin:/bin";
  std::vector<std::string> ids;
  for (const CheckResult& result : check_driver(command, options)) {
    EXPECT_FALSE(result.text.empty()) << result.id;
    EXPECT_EQ(result.text.find('\n'), std::string::npos) << result.id;
    if (result.status != CheckStatus::fail) continue;
    ids.push_back(result.id);
    std::printf("%s: %s\n", result.id.c_str(), result.text.c_str());
  }
  EXPECT_EQ(process::read_tree(::getpid(), process::TreeFields::none)->processes, 1u) << "something is left";
  return ids;
}

std::vector<std::string> faulty(const std::string& mode) {
  return failures({python, drivers + "faulty_driver.py", mode});
}

TEST(Check, passes_a_driver_that_keeps_the_rules) {
  EXPECT_THAT(faulty("good"), IsEmpty());
}

TEST(Check, reports_every_result_as_it_comes) {
  std::vector<std::string> seen;
  const auto results = check_driver({"mine", {python, drivers + "faulty_driver.py", "good"}, {}, {}}, fast(),
                                    [&](const CheckResult& result) { seen.push_back(result.id); });
  ASSERT_EQ(seen.size(), results.size());
  EXPECT_TRUE(conforms(results));
  EXPECT_THAT(seen, Contains("row exec_true"));
  EXPECT_THAT(seen, Contains("row capture_2b"));
}

TEST(Check, stops_at_a_program_that_is_no_driver) {
  EXPECT_THAT(failures({"/no/such/driver"}), testing::ElementsAre("hello"));
  EXPECT_THAT(failures({"/bin/true"}), testing::ElementsAre("hello"));
  EXPECT_THAT(faulty("bad_hello"), testing::ElementsAre("hello"));
  EXPECT_THAT(faulty("other_protocol"), testing::ElementsAre("hello"));
}

class BrokenRule : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(BrokenRule, is_named) {
  const auto& [mode, id] = GetParam();
  EXPECT_THAT(faulty(mode), Contains(id));
}

INSTANTIATE_TEST_SUITE_P(
    Check, BrokenRule,
    testing::Values(std::pair{"wrong_output", "row capture_2b"}, std::pair{"wrong_code", "row exec_true"},
                    std::pair{"lost_code", "row exec_true"}, std::pair{"negative", "row exec_true"},
                    std::pair{"garbage", "row exec_true"}, std::pair{"few_samples", "iterations"},
                    std::pair{"twice", "row exec_true"}, std::pair{"failed_sample", "row exec_true"},
                    std::pair{"dies_exit_3", "row exec_true"}),
    [](const auto& test) { return std::string(test.param.first); });

TEST(Check, finds_nothing_but_the_rule_that_is_broken) {
  EXPECT_THAT(faulty("dies_of_bad_line"), testing::ElementsAre("bad_line"));
  EXPECT_THAT(faulty("stray"), testing::ElementsAre("nothing_left"));
}

TEST(Check, finds_a_driver_that_does_not_leave) {
  CheckOptions options = fast();
  options.driver.bye_timeout = std::chrono::milliseconds(400);
  EXPECT_THAT(failures({python, drivers + "faulty_driver.py", "hangs_at_bye"}, options), Contains("bye"));
  EXPECT_THAT(failures({python, drivers + "faulty_driver.py", "stays_after_bye"}, options), Contains("bye"));
  EXPECT_THAT(failures({python, drivers + "faulty_driver.py", "ignores_eof"}, options),
              Contains("end_of_input"));
}

TEST(Check, passes_the_driver_in_python_that_is_written_from_the_documentation) {
  EXPECT_THAT(failures({python, drivers + "python_driver.py"}), IsEmpty());
}

TEST(Check, passes_the_driver_that_the_documentation_prints) {
  if (any_node().empty()) GTEST_SKIP() << "no node is installed";
  const std::string page = file::read(TARE_GOLDEN_DIR "/../../docs/driver-protocol.md");
  constexpr std::string_view fence = "```python\n";
  const std::size_t begin = page.find(fence) + fence.size();
  const std::string code = page.substr(begin, page.find("```", begin) - begin);
  EXPECT_LE(std::count(code.begin(), code.end(), '\n'), 40);
  const file::TemporaryFolder folder;
  file::write_atomically(folder.path() / "driver.py", code);
  EXPECT_THAT(failures({python, (folder.path() / "driver.py").string()}), IsEmpty());
}

TEST(Check, passes_the_node_driver) {
  const std::filesystem::path node = any_node();
  if (node.empty()) GTEST_SKIP() << "no node is installed";
  EXPECT_THAT(failures({node.string(), TARE_GOLDEN_DIR "/../../drivers/node.mjs"}), IsEmpty());
}

std::vector<std::string> faulty_registry(const std::string& mode) {
  return failures({python, drivers + "faulty_registry.py", mode});
}

TEST(Check, goes_through_the_rows_of_a_registry) {
  std::map<std::string, CheckStatus> seen;
  for (const CheckResult& result :
       check_driver({"mine", {python, drivers + "faulty_registry.py", "good"}, {}, {}}, fast())) {
    seen[result.id] = result.status;
    EXPECT_NE(result.status, CheckStatus::fail) << result.id << ": " << result.text;
  }
  for (const AgentScenario& scenario : agent_scenarios())
    EXPECT_EQ(seen.count(fmt::format("row {}_8", scenario.name)), 1u) << scenario.name;
  EXPECT_EQ(seen.at("iterations"), CheckStatus::pass);
  for (const char* id : {"timeout", "other_size", "state_folder", "full_folder"})
    EXPECT_EQ(seen.at(id), CheckStatus::pass) << id;
}

TEST(Check, has_nothing_to_say_of_state_to_a_driver_that_keeps_none) {
  for (const CheckResult& result :
       check_driver({"mine", {python, drivers + "faulty_driver.py", "good"}, {}, {}}, fast()))
    EXPECT_THAT(result.id, testing::AllOf(testing::Ne("state_folder"), testing::Ne("full_folder"),
                                          testing::Ne("other_size")));
}

class BrokenRegistry : public testing::TestWithParam<std::pair<const char*, std::vector<std::string>>> {};

TEST_P(BrokenRegistry, is_found_by_what_is_broken_and_nothing_else) {
  const auto& [mode, ids] = GetParam();
  EXPECT_THAT(faulty_registry(mode), testing::ElementsAreArray(ids));
}

INSTANTIATE_TEST_SUITE_P(
    Check, BrokenRegistry,
    testing::Values(std::pair{"miscounts", std::vector<std::string>{"row admission_8"}},
                    std::pair{"hides_its_memory", std::vector<std::string>{"row recoverySweep_8"}},
                    std::pair{"leaves_a_file", std::vector<std::string>{"row spawnPipelineDurable_8",
                                                                        "state_folder", "full_folder"}},
                    std::pair{"ignores_the_folder", std::vector<std::string>{"state_folder"}},
                    std::pair{"takes_any_folder", std::vector<std::string>{"full_folder"}},
                    std::pair{"takes_any_size", std::vector<std::string>{"other_size"}},
                    std::pair{"takes_its_time", std::vector<std::string>{"timeout"}},
                    std::pair{"is_late_too_soon", std::vector<std::string>{"timeout"}},
                    std::pair{"loses_a_run", std::vector<std::string>{"row durableCrash_8"}},
                    std::pair{"owes_an_acknowledgement", std::vector<std::string>{"row durableCrash_8"}}),
    [](const auto& test) { return std::string(test.param.first); });

}  // namespace
}  // namespace tare::driver
