#include "lab/bench/common/recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

driver::Sample good(std::map<std::string, double> ns) {
  driver::Sample sample;
  sample.ns = std::move(ns);
  return sample;
}

driver::Sample bad(driver::Outcome outcome, std::string error, std::map<std::string, double> ns = {}) {
  driver::Sample sample = good(std::move(ns));
  sample.outcome = outcome;
  sample.error = std::move(error);
  return sample;
}

const driver::Workload exit_row = driver::find_workload("node_exit_1").value();
const driver::Judgement exit_is_0{"exit_code", true, "0", "0"};
const driver::Judgement exit_is_1{"exit_code", false, "0", "1"};

TEST(Recorder, keeps_samples_in_milliseconds_with_their_place_in_the_run) {
  report::Row row;
  Recorder recorder(row, exit_row);
  recorder.add(good({{"total", 3e6}, {"spawn", 1e6}, {"wait_reap", 2e6}}), {{exit_is_0}}, {0, 0, 5ms});
  recorder.add(good({{"total", 4e6}, {"spawn", 1e6}, {"wait_reap", 3e6}}), {{exit_is_0}}, {1, 2, 9ms});
  recorder.finish();
  const report::Metric& total = row.metrics.at("total");
  EXPECT_EQ(total.unit, "ms");
  EXPECT_THAT(total.samples, ElementsAre(3.0, 4.0));
  EXPECT_THAT(total.round, ElementsAre(0, 1));
  EXPECT_THAT(total.process, ElementsAre(0, 2));
  EXPECT_THAT(total.at_ms, ElementsAre(5.0, 9.0));
  EXPECT_EQ(total.summary.count, 2U);
  EXPECT_EQ(row.metrics.at("wait_reap").summary.max, 3.0);
  EXPECT_EQ(row.outcomes.at("ok"), 2U);
  EXPECT_EQ(row.status, report::RowStatus::ok);
}

TEST(Recorder, one_wrong_answer_fails_the_row_and_says_how_often) {
  report::Row row;
  Recorder recorder(row, exit_row);
  recorder.add(good({{"total", 1e6}}), {{exit_is_0}}, {});
  recorder.add(good({{"total", 1e6}}), {{exit_is_1}}, {});
  recorder.finish();
  EXPECT_EQ(row.status, report::RowStatus::failed);
  EXPECT_EQ(row.reason, "exit_code: expected 0, got 1 (1 of 2 times)");
  EXPECT_EQ(row.outcomes.at("ok"), 1U);
  EXPECT_EQ(row.outcomes.at("failed"), 1U);
  EXPECT_EQ(row.metrics.at("total").summary.count, 1U);  // a fast wrong answer is no result
  EXPECT_EQ(row.metrics.at("total").error[1], "exit_code: expected 0, got 1");
}

TEST(Recorder, an_excused_check_is_counted_and_the_sample_stands) {
  report::Row row;
  Recorder recorder(row, exit_row, {"exit_code"});
  recorder.add(good({{"total", 1e6}}), {{exit_is_1}}, {});
  recorder.finish();
  EXPECT_EQ(row.status, report::RowStatus::ok);
  EXPECT_EQ(row.counters.at("defect_exit_code"), 1);
  EXPECT_EQ(row.metrics.at("total").summary.count, 1U);
}

TEST(Recorder, warm_ups_are_judged_but_are_no_samples) {
  report::Row row;
  Recorder recorder(row, exit_row);
  recorder.warm_up(good({{"total", 9e6}}), {{exit_is_1}});
  recorder.finish();
  EXPECT_TRUE(row.metrics.at("total").samples.empty());
  EXPECT_THAT(row.metrics.at("total").warmup, ElementsAre(9.0));
  EXPECT_EQ(row.metrics.at("total").summary.count, 0U);
  EXPECT_EQ(row.status, report::RowStatus::failed);
}

TEST(Recorder, failures_never_enter_the_distribution_of_the_good) {
  report::Row row;
  Recorder recorder(row, exit_row);
  recorder.add(good({{"total", 1e6}}), {}, {0, 0, 0ms});
  recorder.add(bad(driver::Outcome::timeout, "took longer", {{"total", 9e9}}), {}, {1, 0, 1ms});
  recorder.add(bad(driver::Outcome::failed, "no such file"), {}, {2, 0, 2ms});
  recorder.finish();
  const report::Metric& total = row.metrics.at("total");
  EXPECT_THAT(total.samples, ElementsAre(1.0, 9000.0, std::nullopt));  // the age of what never ended is kept
  EXPECT_EQ(total.summary.count, 1U);
  EXPECT_EQ(total.summary.max, 1.0);
  EXPECT_EQ(total.error[2], "no such file");
  EXPECT_EQ(row.outcomes.at("timeout"), 1U);
  EXPECT_THAT(row.reason.value(),
              HasSubstr("completed: expected ok, got timeout: took longer (2 of 3 times)"));
}

TEST(Recorder, counts_timeouts_in_a_row) {
  report::Row row;
  Recorder recorder(row, exit_row);
  for (int i = 0; i < 2; ++i) recorder.add(bad(driver::Outcome::timeout, ""), {}, {});
  EXPECT_EQ(recorder.timeouts_in_a_row(), 2U);
  recorder.add(good({{"total", 1e6}}), {}, {});
  EXPECT_EQ(recorder.timeouts_in_a_row(), 0U);
}

TEST(Recorder, wait_per_process_is_the_share_of_the_batch) {
  report::Row row;
  Recorder recorder(row, driver::find_workload("fanout_8").value());
  driver::Sample sample = good({{"total", 9e6}, {"spawn_batch", 1e6}, {"wait_reap_batch", 8e6}});
  sample.counters = {{"exits", 8}, {"nonZero", 0}, {"unknown", std::nullopt}};
  recorder.add(sample, {}, {});
  recorder.add(sample, {}, {});
  EXPECT_THAT(row.metrics.at("wait_reap_per_process").samples, ElementsAre(1.0, 1.0));
  EXPECT_EQ(row.counters.at("exits"), 16);
  EXPECT_FALSE(row.counters.contains("unknown"));
}

TEST(Recorder, what_a_large_registry_costs_is_told_by_the_row) {
  const auto share = share_of(driver::find_workload("restartScale_1000").value());
  EXPECT_EQ(share.value().of, "total");
  report::Row row;
  Recorder recorder(row, driver::find_workload("sweepScale_1000").value());
  recorder.add(good({{"total", 5e6}}), {}, {});
  EXPECT_THAT(row.metrics.at("per_row").samples, ElementsAre(5.0 / 1000));
  EXPECT_FALSE(share_of(exit_row));
  EXPECT_FALSE(share_of(driver::find_workload("recoverySweep_32").value()));
}

TEST(Recorder, memory_is_told_by_the_guest_and_growth_by_the_distance) {
  report::Row row;
  Recorder recorder(row, driver::find_workload("memory_4").value());
  driver::Sample sample = good({{"total", 1e6}});
  sample.bytes = {{"idle", 50.0}, {"vm", 100.0}, {"live_guests", 180.0}};
  recorder.add(sample, {}, {});
  sample.bytes["vm"] = std::nullopt;
  recorder.add(sample, {}, {});
  EXPECT_THAT(row.metrics.at("per_guest").samples, ElementsAre(20.0, std::nullopt));
  EXPECT_EQ(row.metrics.at("per_guest").unit, "bytes");

  report::Row grown;
  Recorder growth(grown, driver::find_workload("growth_1000").value());
  sample.bytes = {{"before", 120.0}, {"after", 100.0}};
  growth.add(sample, {}, {});
  EXPECT_THAT(grown.metrics.at("growth").samples, ElementsAre(-20.0));
}

TEST(Recorder, a_row_that_ended_early_keeps_its_reason_and_its_samples) {
  report::Row row;
  Recorder recorder(row, exit_row);
  recorder.add(good({{"total", 1e6}}), {{exit_is_1}}, {});
  recorder.fail("driver 'x' died");
  recorder.finish();
  EXPECT_EQ(row.reason, "driver 'x' died");
  EXPECT_EQ(row.metrics.at("total").samples.size(), 1U);
}

}  // namespace
}  // namespace tare::bench
