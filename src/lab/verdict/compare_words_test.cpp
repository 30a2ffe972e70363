#include "lab/verdict/compare_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "lab/verdict/example_comparison.hpp"

namespace tare::verdict {
namespace {

using report::Tone;
using testing::ElementsAre;

Entry entry(std::string metric, std::string quantile, Change change) {
  Entry e;
  e.row = "fanout_8";
  e.target = e.new_target = "node";
  e.metric = std::move(metric);
  e.quantile = std::move(quantile);
  e.change = change;
  e.verdict = change == Change::worse     ? report::Verdict::fail
              : change == Change::unclear ? report::Verdict::inconclusive
              : change == Change::missing ? report::Verdict::unmeasured
                                          : report::Verdict::pass;
  return e;
}

Comparison of(std::vector<Entry> entries) {
  Comparison comparison;
  comparison.same_machine = true;
  comparison.now.complete = true;
  comparison.entries = std::move(entries);
  return comparison;
}

std::vector<std::string> names(const std::vector<const Entry*>& entries) {
  std::vector<std::string> out;
  for (const Entry* e : entries) out.push_back(metric_text(*e));
  return out;
}

TEST(CompareWords, the_headline_counts_worst_first_and_leaves_out_what_did_not_happen) {
  const Headline line = headline(example_comparison().comparisons.front());
  EXPECT_EQ(line.text,
            "3 worse, 1 better, 1 same, 1 unclear, 1 missing; 1 row only in the base, 2 only in the new one");
  EXPECT_EQ(line.tone, Tone::bad);
  EXPECT_EQ(headline(of({entry("total", "p50", Change::same)})).text, "1 same");
}

TEST(CompareWords, a_headline_is_good_only_without_doubt) {
  EXPECT_EQ(headline(of({entry("total", "p50", Change::same)})).tone, Tone::good);
  EXPECT_EQ(headline(of({entry("total", "p50", Change::better)})).tone, Tone::good);
  EXPECT_EQ(headline(of({entry("total", "p50", Change::unclear)})).tone, Tone::warn);
  EXPECT_EQ(headline(of({entry("total", "p50", Change::missing)})).tone, Tone::warn);
  Comparison lost = of({entry("total", "p50", Change::same)});
  lost.missing = {"nested_8 on node"};
  EXPECT_EQ(headline(lost).tone, Tone::warn);
}

TEST(CompareWords, nothing_in_common_is_said_and_is_no_success) {
  const Headline line = headline(of({}));
  EXPECT_EQ(line.text, "nothing to compare: no row and lane is in both");
  EXPECT_EQ(line.tone, Tone::warn);
}

TEST(CompareWords, the_main_metric_leads_and_others_follow_only_when_they_changed) {
  const Comparison comparison =
      of({entry("spawn", "p50", Change::worse), entry("spawn", "p95", Change::unclear),
          entry("total", "p50", Change::same), entry("total", "p95", Change::better)});
  const Reading reading = read_order(comparison);
  EXPECT_THAT(names(reading.main), ElementsAre("total p50"));
  EXPECT_THAT(names(reading.changed), ElementsAre("spawn p50", "total p95"));
  EXPECT_THAT(names(reading.rest), ElementsAre("spawn p95"));
}

TEST(CompareWords, a_metric_that_was_lost_is_shown_unless_its_whole_row_is_lost) {
  const Comparison lost_metric =
      of({entry("spawn", "p50", Change::missing), entry("total", "p50", Change::same)});
  EXPECT_THAT(names(read_order(lost_metric).changed), ElementsAre("spawn p50"));
  EXPECT_EQ(headline(lost_metric).text, "1 same, 1 missing");
  const Comparison lost_row =
      of({entry("spawn", "p50", Change::missing), entry("total", "p50", Change::missing)});
  EXPECT_THAT(names(read_order(lost_row).rest), ElementsAre("spawn p50"));
  EXPECT_EQ(headline(lost_row).text, "1 missing");
}

TEST(CompareWords, a_row_without_a_total_is_led_by_its_first_metric) {
  const Comparison comparison =
      of({entry("create", "p50", Change::same), entry("first_exec", "p50", Change::same)});
  const Reading reading = read_order(comparison);
  EXPECT_THAT(names(reading.main), ElementsAre("create p50"));
  EXPECT_THAT(names(reading.rest), ElementsAre("first_exec p50"));
}

TEST(CompareWords, n_tells_processes_and_samples_of_both_sides) {
  Comparison comparison = of({});
  Entry e = entry("total", "p50", Change::same);
  e.base_n = e.now_n = 200;
  e.base_processes = e.now_processes = 10;
  e.pairs = 10;
  EXPECT_EQ(n_text(comparison, e), "10×20");
  e.now_n = 159;
  e.now_processes = 8;
  EXPECT_EQ(n_text(comparison, e), "10×20, 8×≈20");
  e.now_n = e.now_processes = 0;
  EXPECT_EQ(n_text(comparison, e), "10×20, 0");
}

TEST(CompareWords, n_of_lanes_that_share_rounds_is_the_rounds) {
  Comparison comparison = of({});
  comparison.paired = true;
  Entry e = entry("total", "p50", Change::same);
  e.base_n = e.now_n = 30;
  e.base_processes = e.now_processes = 1;
  e.pairs = 30;
  EXPECT_EQ(n_text(comparison, e), "30 pairs");
  e.pairs = 1;
  EXPECT_EQ(n_text(comparison, e), "1 pair");
  e.base_n = e.now_n = 200;
  e.base_processes = e.now_processes = e.pairs = 10;
  EXPECT_EQ(n_text(comparison, e), "10×20");
}

TEST(CompareWords, a_missing_figure_has_a_reason_and_is_never_zero) {
  Entry e = entry("total", "p50", Change::missing);
  EXPECT_FALSE(ratio_figure(e));
  EXPECT_EQ(ratio_figure(e).reason, "no figure, for no stated reason");
  e.reason = "no such row";
  EXPECT_EQ(now_figure(e).reason, "no such row");
  EXPECT_EQ(difference_figure(e).reason, "no such row");
  EXPECT_EQ(effect_text(e), "");
  EXPECT_EQ(p_text(e), "");
  EXPECT_EQ(detectable_text(e), "");
}

TEST(CompareWords, figures_are_short_and_signed) {
  Entry e = entry("total", "p50", Change::worse);
  e.ratio = 1.0523;
  EXPECT_EQ(ratio_figure(e).text, "1.05×");
  e.interval = {1.031, 1.072};
  EXPECT_EQ(ratio_figure(e).text, "1.05× (1.03–1.07)");
  e.difference = 1.4;
  EXPECT_EQ(difference_figure(e).text, "+1.40");
  e.difference = -27.6;
  EXPECT_EQ(difference_figure(e).text, "-27.6");
  e.effect_size = -0.001;
  EXPECT_EQ(effect_text(e), "0.00");
  e.effect_size = 0.712;
  EXPECT_EQ(effect_text(e), "+0.71");
  e.minimum_detectable = 0.0123;
  EXPECT_EQ(detectable_text(e), "1.23 %");
  e.p_adjusted = 0.0004;
  EXPECT_EQ(p_text(e), "<0.001");
  e.p_adjusted = 0.0126;
  EXPECT_EQ(p_text(e), "0.013");
}

TEST(CompareWords, a_change_that_the_verdict_does_not_follow_is_doubted) {
  Entry e = entry("total", "p50", Change::worse);
  EXPECT_EQ(change_text(e), "worse");
  EXPECT_EQ(tone_of(e), Tone::bad);
  e.verdict = report::Verdict::inconclusive;
  EXPECT_EQ(change_text(e), "worse?");
  EXPECT_EQ(tone_of(e), Tone::warn);
}

TEST(CompareWords, another_machine_is_a_warning_that_says_what_to_do) {
  const ComparisonDocument document = example_of_two();
  EXPECT_TRUE(warnings(document.comparisons[0]).empty());
  const std::vector<std::string> lines = warnings(document.comparisons[1]);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], testing::HasSubstr("judge all the same: --across-machines"));
  EXPECT_THAT(lines[1], testing::HasSubstr("cut short"));
}

TEST(CompareWords, the_rules_name_the_tolerance) {
  ComparisonDocument document = example_comparison();
  document.tolerance = 0.025;
  EXPECT_THAT(text::join(how_lines(document), "\n"), testing::HasSubstr("beyond 2.5 %"));
  document.comparisons.front().entries.clear();
  EXPECT_TRUE(how_lines(document).empty());
}

}  // namespace
}  // namespace tare::verdict
