#include "lab/driver/workload.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"

namespace tare::driver {
namespace {

constexpr std::uint64_t nonce = 0x1234'5678'9abc'def0;

Sample sample_with(std::map<std::string, std::optional<std::int64_t>> counters) {
  Sample sample;
  sample.counters = std::move(counters);
  return sample;
}

/// The ids of the conditions that are broken.
std::vector<std::string> broken(std::string_view row, const Sample& sample, json::Object params = {}) {
  std::vector<std::string> ids;
  for (const Judgement& judgement : judge(find_workload(row).value(), params, sample)) {
    if (!judgement.ok) ids.push_back(judgement.id);
  }
  return ids;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Workload, of_a_fanout_has_its_number) {
  const auto fanout = find_workload("fanout_8");
  ASSERT_TRUE(fanout);
  EXPECT_EQ(fanout->size, 8);
  EXPECT_THAT(fanout->metrics, ElementsAre("total", "spawn_batch", "wait_reap_batch"));
  for (const char* bad :
       {"fanout_", "fanout_0", "fanout_08", "fanout_-1", "fanout_1001", "fanout_<n>", "fanout_8 ", "nope"}) {
    EXPECT_FALSE(find_workload(bad)) << bad;
  }
}

TEST(Workload, of_memory_and_growth_has_its_number) {
  const auto memory = find_workload("memory_16");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->size, 16);
  EXPECT_EQ(make_params(*memory, nonce, "/tmp"), (json::Object{{"guests", 16}}));
  const auto growth = find_workload("growth_1000");
  ASSERT_TRUE(growth);
  EXPECT_EQ(make_params(*growth, nonce, "/tmp"), (json::Object{{"processes", 1000}, {"warmup", 200}}));
  EXPECT_THAT(growth->sizes, ElementsAre("before", "after"));
  EXPECT_EQ(make_params(find_workload("growth_7").value(), nonce, "/tmp").at("warmup"), 7);
  for (const char* bad : {"memory_0", "memory_1001", "memory_", "memory_<n>", "growth_0", "growth_100001"})
    EXPECT_FALSE(find_workload(bad)) << bad;
}

TEST(Workload, exists_for_every_row_name) {
  const auto all = all_workloads({.fanouts = {1, 8}, .guests = {1, 4, 16}});
  EXPECT_EQ(all.size(), row_names().size() + 3);
  for (const Workload& workload : all) {
    EXPECT_EQ(find_workload(workload.row)->work, workload.work);
    EXPECT_EQ(workload.metrics.front(), "total");
  }
}

TEST(Params, carry_the_nonce_into_everything_that_is_read_back) {
  const auto params = [](std::string_view row, std::uint64_t nonce) {
    return json::line(json::Value(make_params(find_workload(row).value(), nonce, "/tmp")));
  };
  for (const char* row : {"capture_2b", "capture_256k", "stdin_roundtrip_4k", "host_cwd_write_1file"}) {
    EXPECT_NE(params(row, 1), params(row, 2)) << row;
    EXPECT_EQ(params(row, 1), params(row, 1)) << row;
  }
  EXPECT_EQ(
      make_params(find_workload("stdin_roundtrip_4k").value(), nonce, "/tmp")["input"].as_string().size(),
      4096u);
}

TEST(Judge, wants_the_exit_code_of_the_row) {
  EXPECT_THAT(broken("node_exit_1", sample_with({{"exitCode", 0}})), IsEmpty());
  EXPECT_THAT(broken("node_exit_1", sample_with({{"exitCode", 1}})), ElementsAre("exit_code"));
  EXPECT_THAT(broken("node_exit_1", sample_with({{"exitCode", 0}, {"signal", 9}})), ElementsAre("exit_code"));
  EXPECT_THAT(broken("exit_code_7", sample_with({{"exitCode", 7}})), IsEmpty());
  EXPECT_THAT(broken("exit_code_7", sample_with({{"exitCode", 0}})), ElementsAre("exit_code"));
}

TEST(Judge, takes_an_unknown_exit_for_a_failure) {
  EXPECT_THAT(broken("node_exit_1", sample_with({})), ElementsAre("exit_code"));
  EXPECT_THAT(broken("node_exit_1", sample_with({{"exitCode", std::nullopt}})), ElementsAre("exit_code"));
  EXPECT_THAT(broken("fanout_2", sample_with({})), ElementsAre("all_exits", "no_failures"));
}

TEST(Judge, wants_a_cold_start_to_work_twice_and_leave_nothing) {
  EXPECT_THAT(broken("cold_start", sample_with({{"exitCode", 0}, {"warmExitCode", 0}, {"leftRunning", 0}})),
              IsEmpty());
  EXPECT_THAT(broken("cold_start", sample_with({{"exitCode", 0}, {"warmExitCode", 1}, {"leftRunning", 2}})),
              ElementsAre("warm_exit_code", "none_left"));
}

TEST(Judge, wants_every_guest_alive_and_then_gone) {
  EXPECT_THAT(broken("memory_4", sample_with({{"guests", 4}, {"exits", 4}})), IsEmpty());
  EXPECT_THAT(broken("memory_4", sample_with({{"guests", 3}, {"exits", 4}})), ElementsAre("guests_alive"));
  EXPECT_THAT(broken("memory_4", sample_with({{"guests", 4}})), ElementsAre("all_exits"));
}

TEST(Judge, wants_every_process_that_memory_may_grow_over) {
  EXPECT_THAT(broken("growth_1000", sample_with({{"exits", 1000}, {"nonZero", 0}})), IsEmpty());
  EXPECT_THAT(broken("growth_1000", sample_with({{"exits", 999}, {"nonZero", 0}})), ElementsAre("all_exits"));
  EXPECT_THAT(broken("growth_1000", sample_with({{"exits", 1000}, {"nonZero", 1}})),
              ElementsAre("no_failures"));
}

TEST(Judge, never_takes_exit_0_for_a_kill) {
  EXPECT_THAT(broken("signal_kill", sample_with({{"signal", 9}})), IsEmpty());
  EXPECT_THAT(broken("signal_kill", sample_with({{"exitCode", 137}})), IsEmpty());
  EXPECT_THAT(broken("signal_kill", sample_with({{"exitCode", 0}})), ElementsAre("killed_by_signal"));
  EXPECT_THAT(broken("signal_kill", sample_with({{"exitCode", 0}, {"signal", 9}})),
              ElementsAre("killed_by_signal"));
  EXPECT_THAT(broken("signal_kill", sample_with({{"signal", 15}})), ElementsAre("killed_by_signal"));
  EXPECT_THAT(broken("signal_kill", sample_with({})), ElementsAre("killed_by_signal"));
}

TEST(Judge, counts_every_exit_of_a_fanout_once) {
  EXPECT_THAT(broken("fanout_8", sample_with({{"exits", 8}, {"nonZero", 0}})), IsEmpty());
  EXPECT_THAT(broken("fanout_8", sample_with({{"exits", 7}, {"nonZero", 0}})), ElementsAre("all_exits"));
  EXPECT_THAT(broken("fanout_8", sample_with({{"exits", 9}, {"nonZero", 0}})), ElementsAre("all_exits"));
  EXPECT_THAT(broken("fanout_8", sample_with({{"exits", 8}, {"nonZero", 1}})), ElementsAre("no_failures"));
}

TEST(Judge, compares_output_to_the_byte) {
  const auto workload = find_workload("capture_256k").value();
  const json::Object params = make_params(workload, nonce, "/tmp");
  const std::string tag(params.at("nonce").as_string());
  Sample sample = sample_with({{"exitCode", 0}});
  EXPECT_THAT(broken("capture_256k", sample, params), ElementsAre("output_exact"));
  std::string output;
  while (output.size() < 262144) output += tag;
  sample.output = output;
  EXPECT_THAT(broken("capture_256k", sample, params), IsEmpty());
  sample.output->at(1000) = '!';
  EXPECT_EQ(judge(workload, params, sample).back().actual, "262144 bytes, the first wrong one at 1000");
  sample.output = output + "x";
  EXPECT_THAT(broken("capture_256k", sample, params), ElementsAre("output_exact"));
  sample.output = output.substr(1);
  EXPECT_THAT(broken("capture_256k", sample, params), ElementsAre("output_exact"));
}

TEST(Judge, does_not_take_the_output_of_another_sample) {
  const auto workload = find_workload("capture_2b").value();
  Sample sample = sample_with({{"exitCode", 0}});
  sample.output = std::string(make_params(workload, 1, "/tmp")["nonce"].as_string());
  EXPECT_THAT(broken("capture_2b", sample, make_params(workload, 1, "/tmp")), IsEmpty());
  EXPECT_THAT(broken("capture_2b", sample, make_params(workload, 2, "/tmp")), ElementsAre("output_exact"));
}

TEST(Judge, wants_the_marker_of_a_nested_parent_once) {
  const std::string good =
      R"(__BENCH098__{"expectedChildren":8,"exitCallbacks":8,"closeCallbacks":8,"errorCallbacks":0,"nonZeroExitCodes":0,"nonZeroCloseCodes":0})";
  const auto with = [](std::string output) {
    Sample sample = sample_with({{"exitCode", 0}});
    sample.output = std::move(output);
    return broken("nested_8", sample);
  };
  EXPECT_THAT(with(good + "\n"), IsEmpty());
  EXPECT_THAT(with("noise\n" + good + "\r\n"), IsEmpty());
  EXPECT_THAT(with(good + "\n" + good + "\n"), ElementsAre("marker_once"));
  EXPECT_THAT(with(""), ElementsAre("marker_once"));
  std::string wrong = good;
  wrong.replace(wrong.find("\"exitCallbacks\":8"), 17, "\"exitCallbacks\":7");
  EXPECT_THAT(with(wrong), ElementsAre("callbacks"));
  EXPECT_THAT(with("__BENCH098__{}"), ElementsAre("callbacks"));
  EXPECT_THAT(with("__BENCH098__junk"), ElementsAre("callbacks"));
}

TEST(Judge, looks_for_the_file_and_takes_it_away) {
  const file::TemporaryFolder folder;
  const auto workload = find_workload("host_cwd_write_1file").value();
  const json::Object params = make_params(workload, nonce, folder.path());
  const auto path = folder.path() / std::string(params.at("file").as_string());
  const Sample sample = sample_with({{"exitCode", 0}});
  EXPECT_THAT(broken(workload.row, sample, params), ElementsAre("file_on_host"));
  std::ofstream(path) << "something else";
  EXPECT_THAT(broken(workload.row, sample, params), ElementsAre("file_on_host"));
  std::ofstream(path) << std::string(params.at("content").as_string());
  EXPECT_THAT(broken(workload.row, sample, params), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Judge, judges_the_sync_only_where_it_is_reported) {
  EXPECT_THAT(broken("root_cwd_no_write", sample_with({{"exitCode", 0}})), IsEmpty());
  EXPECT_THAT(broken("root_cwd_no_write", sample_with({{"exitCode", 0}, {"syncSkipped", 1}})), IsEmpty());
  EXPECT_THAT(broken("root_cwd_no_write", sample_with({{"exitCode", 0}, {"syncFiles", 0}})), IsEmpty());
  EXPECT_THAT(broken("root_cwd_no_write", sample_with({{"exitCode", 0}, {"syncFiles", 3}})),
              ElementsAre("sync_skipped"));
  EXPECT_THAT(broken("host_cwd_no_write", sample_with({{"exitCode", 0}, {"syncSkipped", 0}})),
              ElementsAre("sync_skipped"));
  EXPECT_THAT(broken("host_cwd_write_1file", sample_with({{"exitCode", 0}, {"syncSkipped", 1}})),
              ElementsAre("file_on_host", "sync_skipped"));
}

TEST(Judge, wants_nothing_left_after_a_storm) {
  const std::map<std::string, std::optional<std::int64_t>> good = {
      {"exits", 32},   {"nonZero", 0},        {"zombies", 0},     {"fdsBefore", 9},
      {"fdsAfter", 9}, {"threadsBefore", 11}, {"threadsAfter", 7}};
  EXPECT_THAT(broken("reap_storm_32", sample_with(good)), IsEmpty());
  const auto changed = [&](const char* counter, std::optional<std::int64_t> value) {
    auto counters = good;
    counters[counter] = value;
    return broken("reap_storm_32", sample_with(counters));
  };
  EXPECT_THAT(changed("zombies", 1), ElementsAre("no_zombies"));
  EXPECT_THAT(changed("fdsAfter", 10), ElementsAre("fds_back"));
  EXPECT_THAT(changed("threadsAfter", 12), ElementsAre("threads_back"));
  EXPECT_THAT(changed("threadsBefore", std::nullopt), ElementsAre("threads_back"));
}

TEST(Judge, has_nothing_to_say_of_a_sample_that_is_not_ok) {
  Sample sample;
  sample.outcome = Outcome::timeout;
  EXPECT_THAT(judge(find_workload("node_exit_1").value(), {}, sample), IsEmpty());
}

TEST(Judge, expects_the_same_in_every_sample) {
  for (const Workload& workload : all_workloads({.fanouts = {1, 8}, .guests = {1}})) {
    const Sample sample = sample_with({{"exitCode", 1}});
    const auto first = judge(workload, make_params(workload, 1, "/nowhere"), sample);
    const auto second = judge(workload, make_params(workload, 2, "/nowhere"), sample);
    ASSERT_EQ(first.size(), second.size());
    EXPECT_FALSE(first.empty()) << workload.row;
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].expected, second[i].expected);
  }
}

}  // namespace
}  // namespace tare::driver
