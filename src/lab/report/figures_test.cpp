#include "lab/report/figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/report/example_document.hpp"

namespace tare::report {
namespace {

Comparison ratio_of(double ratio, std::optional<Interval> interval) {
  Comparison c;
  c.ratio = ratio;
  c.interval = interval;
  c.pairs = 5;
  return c;
}

TEST(Figures, a_ratio_is_marked_when_its_interval_holds_one) {
  EXPECT_EQ(ratio_figure(ratio_of(1.114, Interval{1.1, 1.13})).text, "1.11×");
  EXPECT_EQ(ratio_figure(ratio_of(1.02, Interval{0.99, 1.05})).text, "≈1.02×");
  EXPECT_EQ(ratio_figure(ratio_of(1.02, Interval{1, 1.05})).text, "≈1.02×");
  EXPECT_EQ(ratio_figure(ratio_of(0.0112, Interval{0.011, 0.012})).text, "0.0112×");
  EXPECT_EQ(ratio_interval_figure(ratio_of(1.114, Interval{1.1, 1.13})).text, "1.10–1.13×");
}

TEST(Figures, a_ratio_without_interval_or_without_figure_says_why) {
  EXPECT_EQ(ratio_figure(ratio_of(1.02, {})).text, "?1.02×");
  EXPECT_EQ(ratio_interval_figure(ratio_of(1.02, {})).reason, "n/a (5 pairs)");
  Comparison none;
  none.reason = "native has no child_process";
  EXPECT_FALSE(ratio_figure(none));
  EXPECT_EQ(ratio_figure(none).reason, "native has no child_process");
  none.reason.reset();
  EXPECT_FALSE(ratio_figure(none)) << "a null is never a figure";
}

TEST(Figures, intervals_with_negative_ends_read_as_words) {
  EXPECT_EQ(interval_text({24.9, 25.3}), "24.9–25.3");
  EXPECT_EQ(interval_text({-1.2, 0.4}), "-1.20 to 0.400");
}

TEST(Figures, a_missing_quantile_gives_the_note_of_the_summary) {
  const measure::Summary three = measure::summarise(std::vector<double>{1, 2, 3});
  EXPECT_EQ(quantile_figure(three, "p50").text, "2.00");
  EXPECT_EQ(quantile_figure(three, "p95").reason, "n/a (n<20)");
  EXPECT_EQ(interval_figure(three, "p50").reason, "n/a (n<6)");
  EXPECT_EQ(interval_figure(three, "p95").reason, "n/a (n<20)");
  EXPECT_EQ(quantile_figure({}, "p50").reason, "n/a (no samples)");
}

TEST(Figures, cpu_and_memory_say_why_they_are_missing) {
  Row row;
  EXPECT_EQ(cpu_figure(row).reason, "CPU: not read");
  EXPECT_EQ(memory_figure(row).reason, "max RSS: not read");
  row.resources.cpu_user_ms = 1.5;
  EXPECT_FALSE(cpu_figure(row)) << "half of it is not a figure";
  row.resources.cpu_system_ms = 0.5;
  EXPECT_EQ(cpu_figure(row).text, "2.00");
  row.resources.methods = {"max RSS n/a: no process was seen"};
  EXPECT_EQ(memory_figure(row).reason, "max RSS n/a: no process was seen");
}

TEST(Figures, the_total_stands_for_a_row_wherever_some_target_has_it) {
  Document document = example_document(3);
  document.rows[0].metrics.erase("total");
  const Figures figures(document);
  EXPECT_EQ(figures.main_metric("node_exit_1"), "total");
  EXPECT_FALSE(figures.measured("node_exit_1", "native"));
  EXPECT_EQ(figures.main_metric("no such row"), "");
  EXPECT_EQ(figures.why_missing("fanout_8", "agentos"), "not installed");
  EXPECT_EQ(figures.why_missing("fanout_8", "sh"), "not offered by this target");
}

TEST(Figures, n_counts_good_samples_of_all) {
  EXPECT_EQ(n_text(SampleCount{200, 200}), "n=200");
  EXPECT_EQ(n_text(SampleCount{198, 200}), "n=198/200");
  EXPECT_EQ(n_text(SampleCount{1000, 1000}), "n=1,000");
}

TEST(Footnotes, number_each_reason_once) {
  Footnotes notes;
  EXPECT_EQ(notes.mark("a"), "¹");
  EXPECT_EQ(notes.mark("b"), "²");
  EXPECT_EQ(notes.mark("a"), "¹");
  for (int i = 3; i < 10; ++i) notes.mark(std::to_string(i));
  EXPECT_EQ(notes.mark("the tenth"), "¹⁰");
  EXPECT_EQ(notes.lines().front(), "¹ a");
}

TEST(RunVerdict, never_passes_what_was_not_measured) {
  EXPECT_EQ(run_verdict({}).verdict, Verdict::unmeasured);
  Document document = example_quick_run();
  EXPECT_EQ(run_verdict(document).verdict, Verdict::pass);
  document.budgets = {{"p99", "≤ 200 ms", {}, Verdict::unmeasured, "no samples"}};
  EXPECT_EQ(run_verdict(document).verdict, Verdict::unmeasured);
  document.budgets.clear();
  document.complete = false;
  EXPECT_EQ(run_verdict(document).verdict, Verdict::inconclusive);
  document.rows[0].status = RowStatus::failed;
  EXPECT_EQ(run_verdict(document).verdict, Verdict::fail);
}

TEST(RunVerdict, counts_only_samples_that_an_invariant_looked_at) {
  Document document = example_quick_run();
  EXPECT_EQ(invariants_text(document), "all 460 operations checked, warm-ups included, 0 broken");
  document.rows[0].invariants.clear();
  EXPECT_EQ(invariants_text(document), "440 of 460 operations checked, warm-ups included, 0 broken");
  EXPECT_EQ(run_verdict(document).verdict, Verdict::inconclusive);
}

}  // namespace
}  // namespace tare::report
