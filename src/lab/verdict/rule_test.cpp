#include <gtest/gtest.h>

#include "lab/verdict/compare.hpp"

namespace tare::verdict {
namespace {

Entry entry(double ratio, double low, double high) {
  Entry made;
  made.base = 100;
  made.now = 100 * ratio;
  made.base_processes = made.now_processes = 10;
  made.ratio = ratio;
  made.interval = {low, high};
  made.p_adjusted = 0.001;
  return made;
}

TEST(Rule, the_whole_interval_must_be_past_the_tolerance) {
  EXPECT_EQ(rule(entry(1.10, 1.06, 1.14), {0.05}).change, Change::worse);
  EXPECT_EQ(rule(entry(1.10, 1.04, 1.14), {0.05}).change, Change::unclear);
  EXPECT_EQ(rule(entry(0.90, 0.86, 0.94), {0.05}).change, Change::better);
  EXPECT_EQ(rule(entry(1.01, 0.98, 1.04), {0.05}).change, Change::same);
  EXPECT_EQ(rule(entry(1.01, 0.94, 1.04), {0.05}).change, Change::unclear);
  EXPECT_EQ(rule(entry(1.00, 1.00, 1.00), {0}).change, Change::same);
}

TEST(Rule, verdicts_follow_the_change) {
  EXPECT_EQ(rule(entry(1.10, 1.06, 1.14), {0.05}).verdict, report::Verdict::fail);
  EXPECT_EQ(rule(entry(0.90, 0.86, 0.94), {0.05}).verdict, report::Verdict::pass);
  EXPECT_EQ(rule(entry(1.01, 0.98, 1.04), {0.05}).verdict, report::Verdict::pass);
  EXPECT_EQ(rule(entry(1.10, 1.04, 1.14), {0.05}).verdict, report::Verdict::inconclusive);
}

TEST(Rule, more_is_better_where_the_metric_says_so) {
  Entry rate = entry(1.10, 1.06, 1.14);
  rate.better = report::Better::higher;
  EXPECT_EQ(rule(rate, {0.05}).change, Change::better);
}

TEST(Rule, many_metrics_need_more_than_one_lucky_interval) {
  Entry lucky = entry(1.10, 1.06, 1.14);
  lucky.p_adjusted = 0.2;
  EXPECT_EQ(rule(lucky, {0.05}).change, Change::unclear);
  lucky.p_adjusted.reset();
  EXPECT_EQ(rule(lucky, {0.05}).change, Change::unclear);
}

TEST(Rule, what_equal_lanes_show_as_well_is_no_change) {
  Entry small = entry(1.08, 1.06, 1.10);
  small.minimum_detectable = 0.09;
  EXPECT_EQ(rule(small, {0.05}).change, Change::unclear);
  small.minimum_detectable = 0.055;
  EXPECT_EQ(rule(small, {0.05}).change, Change::worse);
}

TEST(Rule, a_tolerance_below_what_the_machine_can_see_never_passes) {
  Entry even = entry(1.01, 0.98, 1.04);
  even.minimum_detectable = 0.06;
  EXPECT_EQ(rule(even, {0.05}).change, Change::unclear);
  EXPECT_NE(rule(even, {0.05}).reason.value_or("").find("6.00 %"), std::string::npos);
}

TEST(Rule, says_how_many_processes_could_tell) {
  // 2 of 2^8 orders, times 11 figures, is 0.086; 2 of 2^9 is enough. Unpaired: 2 of 70 times 2 is above 0.05.
  EXPECT_EQ(enough_processes(measure::Pairing::paired, 1), 6U);
  EXPECT_EQ(enough_processes(measure::Pairing::paired, 11), 9U);
  EXPECT_EQ(enough_processes(measure::Pairing::unpaired, 1), 4U);
  EXPECT_EQ(enough_processes(measure::Pairing::unpaired, 2), 5U);
  EXPECT_EQ(enough_processes(measure::Pairing::unpaired, 168), 8U);
  Entry many = entry(5, 4, 6);
  many.base_processes = many.now_processes = many.pairs = 8;
  many.method = "median over processes of their rounds' paired log-ratios, sign-test interval";
  many.p_adjusted = 0.086;
  EXPECT_EQ(rule(many, {0.05, 11, measure::Pairing::paired}).reason,
            "p 0.0860 after Holm's correction over 11 figures: needs 9 processes (--processes)");
}

TEST(Rule, a_base_of_zero_is_judged_by_the_difference) {
  Entry zero = entry(1, 1, 1);
  zero.base = 0;
  zero.ratio.reset();
  zero.interval.reset();
  zero.difference_interval = {0.5, 1.5};
  EXPECT_EQ(rule(zero, {0.05}).change, Change::worse);
  zero.difference_interval = {0, 0};
  EXPECT_EQ(rule(zero, {0.05}).change, Change::same);
  zero.difference_interval = {-1, 1};
  EXPECT_EQ(rule(zero, {0.05}).change, Change::unclear);
}

TEST(Rule, without_figures_it_is_unmeasured_and_without_an_interval_inconclusive) {
  Entry none = entry(1, 1, 1);
  none.now.reset();
  none.reason = "no such row";
  EXPECT_EQ(rule(none, {0.05}).verdict, report::Verdict::unmeasured);
  EXPECT_EQ(rule(none, {0.05}).reason, "no such row");
  Entry bare = entry(2, 1, 1);
  bare.interval.reset();
  EXPECT_EQ(rule(bare, {0.05}).verdict, report::Verdict::inconclusive);
}

}  // namespace
}  // namespace tare::verdict
