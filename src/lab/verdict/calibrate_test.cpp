#include "lab/verdict/calibrate.hpp"

#include <gtest/gtest.h>

#include "lab/verdict/samples.hpp"

namespace tare::verdict {
namespace {

const std::vector<Twins> node_twins{{"node", "node_again"}};

report::Document twin_run(std::uint32_t processes, std::uint32_t rounds) {
  measure::Random random(9);
  return made_document({made_row("node_exit_1", "node", made_metric({}, processes, rounds, random)),
                        made_row("node_exit_1", "node_again", made_metric({}, processes, rounds, random))});
}

TEST(Calibrate, takes_the_median_of_each_process_of_both_lanes) {
  report::Document document = twin_run(8, 6);
  const auto entries = calibrate(document, node_twins);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].target, "node");
  EXPECT_EQ(entries[0].metric, "total");
  EXPECT_EQ(entries[0].iterations, 6U);
  ASSERT_EQ(entries[0].first.size(), 8U);
  ASSERT_EQ(entries[0].second.size(), 8U);
  std::vector<double> own;
  for (std::size_t i = 0; i < 6; ++i) own.push_back(document.rows[1].metrics["total"].samples[i].value());
  std::ranges::sort(own);
  EXPECT_EQ(entries[0].second[0], own[2]);
}

TEST(Calibrate, has_a_tail_where_every_process_carries_it) {
  EXPECT_EQ(calibrate(twin_run(8, 20), node_twins).size(), 2U);
  EXPECT_EQ(calibrate(twin_run(8, 19), node_twins).size(), 1U);
}

TEST(Calibrate, says_nothing_of_failed_rows_or_too_few_processes) {
  report::Document failed = twin_run(8, 6);
  failed.rows[1].status = report::RowStatus::failed;
  EXPECT_TRUE(calibrate(failed, node_twins).empty());
  EXPECT_TRUE(calibrate(twin_run(5, 6), node_twins).empty());
  EXPECT_TRUE(calibrate(twin_run(8, 6), {{"node", "bun"}}).empty());
}

TEST(Calibrate, more_processes_detect_smaller_changes) {
  const auto lines = detectable(calibrate(twin_run(20, 10), node_twins));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].processes, 20U);
  EXPECT_LT(lines[0].unpaired_10.value(), lines[0].unpaired_4.value());
  EXPECT_GT(lines[0].paired.value(), 0.0);
  EXPECT_LT(lines[0].paired.value(), 0.2);
}

TEST(Calibrate, a_run_carries_what_is_known_of_its_own_rows) {
  report::Document document = twin_run(1, 3);
  report::Calibration known;
  known.target = "node";
  known.row = "node_exit_1";
  report::Calibration other = known;
  other.row = "nested_8";
  attach_calibrations(document, {known, other});
  ASSERT_TRUE(document.calibrations);
  EXPECT_EQ(document.calibrations->size(), 1U);
  attach_calibrations(document, {other});
  EXPECT_FALSE(document.calibrations);
}

}  // namespace
}  // namespace tare::verdict
