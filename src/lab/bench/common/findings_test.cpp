#include "lab/bench/common/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

report::Document with_lag1(std::uint64_t samples, double lag1) {
  report::Document document;
  report::Row& row = document.rows.emplace_back();
  row.row = "admission_8";
  row.target = "node";
  measure::Summary& summary = row.metrics["total"].summary;
  summary.count = samples;
  summary.lag1 = lag1;
  return document;
}

TEST(Findings, samples_that_depend_on_each_other_are_named) {
  const auto found = findings(with_lag1(200, 0.4), {}, {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].text, HasSubstr("lag-1: admission_8 on node (0.40)"));
  EXPECT_THAT(findings(with_lag1(200, 0.2), {}, {}), IsEmpty());
}

TEST(Findings, a_correlation_that_chance_gives_so_few_samples_is_none) {
  EXPECT_THAT(findings(with_lag1(10, 0.5), {}, {}), IsEmpty());
  EXPECT_EQ(findings(with_lag1(10, 0.7), {}, {}).size(), 1U);
}

TEST(Findings, a_machine_that_was_not_quiet_is_named_with_its_reasons) {
  const auto found = findings({}, {}, {measure::NoiseLevel::busy, {"load 9", "steal 80 ms"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text, "the machine was busy: load 9; steal 80 ms");
}

TEST(Findings, every_failed_row_is_a_broken_invariant_with_its_reason) {
  report::Document document = with_lag1(10, 0);
  EXPECT_TRUE(broken_invariants(document).ok);
  document.rows[0].status = report::RowStatus::failed;
  document.rows[0].reason = "its driver died";
  EXPECT_FALSE(broken_invariants(document).ok);
  EXPECT_THAT(broken_invariants(document).failures, ElementsAre("admission_8 on node: its driver died"));
}

}  // namespace
}  // namespace tare::bench
