#include "lab/verdict/compare_table.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "lab/report/golden.hpp"
#include "lab/report/layout.hpp"
#include "lab/verdict/compare_markdown.hpp"
#include "lab/verdict/example_comparison.hpp"

namespace tare::verdict {
namespace {

using report::expect_golden;
using testing::HasSubstr;
using testing::Not;

std::string at_width(const ComparisonDocument& document, std::size_t width) {
  TableOptions options;
  options.width = width;
  return render(document, options);
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (const std::string& line : text::split(text, '\n')) widest = std::max(widest, text::width(line));
  return widest;
}

TEST(CompareGolden, the_table_on_a_usual_terminal) {
  TableOptions options;
  options.wrote = {"out/comparison.json", "out/comparison.md"};
  expect_golden("compare_table.txt", render(example_comparison(), options));
}

TEST(CompareGolden, the_table_on_a_narrow_terminal) {
  expect_golden("compare_table_60.txt", at_width(example_comparison(), 60));
}

TEST(CompareGolden, two_lanes_of_one_run) {
  expect_golden("compare_lanes.txt", at_width(example_of_lanes(), 100));
}

TEST(CompareGolden, the_document_as_json) {
  expect_golden("compare.json", json::pretty(example_comparison()));
}

TEST(CompareGolden, the_markdown) {
  expect_golden("compare.md", markdown(example_comparison()));
}

TEST(CompareTable, the_verdict_is_the_first_line) {
  EXPECT_TRUE(at_width(example_comparison(), 100).starts_with("verdict     3 worse, 1 better, 1 same"));
}

TEST(CompareTable, what_differs_stands_before_the_figures) {
  const std::string out = at_width(example_comparison(), 100);
  EXPECT_LT(out.find("target agentos version: 0.2.21 → 0.2.22"), out.find("ratio (95 % CI)"));
}

TEST(CompareTable, fits_every_terminal_from_forty_columns_and_survives_one) {
  for (const ComparisonDocument& document :
       {example_comparison(), example_of_lanes(), example_of_two(), ComparisonDocument{}}) {
    for (const Metrics metrics : {Metrics::changed, Metrics::every}) {
      for (std::size_t width = 1; width <= 160; width += width < 44 ? 1 : 9) {
        TableOptions options;
        options.width = width;
        options.metrics = metrics;
        const std::string out = render(document, options);
        EXPECT_THAT(out, Not(HasSubstr(" \n")));
        if (width >= report::narrowest) {
          EXPECT_LE(widest_line(out), width) << out;
        }
      }
    }
  }
}

TEST(CompareTable, says_what_a_narrow_terminal_leaves_out) {
  EXPECT_THAT(at_width(example_comparison(), 160), Not(HasSubstr("On a wider terminal")));
  EXPECT_THAT(at_width(example_comparison(), 60), HasSubstr("On a wider terminal: "));
}

TEST(CompareTable, every_verdict_and_ratio_is_there_at_every_width) {
  for (const std::size_t width : {std::size_t{40}, std::size_t{60}, std::size_t{100}}) {
    const std::string out = at_width(example_comparison(), width);
    EXPECT_THAT(out, HasSubstr("1.08×"));
    EXPECT_THAT(out, HasSubstr("better"));
    EXPECT_THAT(out, HasSubstr("missing"));
  }
}

TEST(CompareTable, unchanged_metrics_are_counted_and_shown_on_request) {
  const std::string brief = at_width(example_comparison(), 100);
  EXPECT_THAT(brief, HasSubstr("not shown   2 figures of other metrics and quantiles: 1 same, 1 unclear"));
  EXPECT_THAT(brief, Not(HasSubstr("spawn p95")));
  TableOptions options;
  options.metrics = Metrics::every;
  const std::string full = render(example_comparison(), options);
  EXPECT_THAT(full, HasSubstr("spawn p95"));
  EXPECT_THAT(full, Not(HasSubstr("not shown")));
}

TEST(CompareTable, a_reason_is_said_once_however_many_lines_have_it) {
  ComparisonDocument document = example_comparison();
  for (Entry& entry : document.comparisons.front().entries) entry.reason = "measured on different machines";
  const std::string out = at_width(document, 100);
  const std::size_t first = out.find("¹ measured on different machines");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(out.find("measured on different machines", first + 10), std::string::npos);
}

TEST(CompareTable, colour_marks_verdicts_and_nothing_else) {
  TableOptions options;
  EXPECT_THAT(render(example_comparison(), options), Not(HasSubstr("\x1b")));
  options.colour = report::Colour::on;
  const std::string out = render(example_comparison(), options);
  EXPECT_THAT(out, HasSubstr("\x1b[31mworse\x1b[0m"));
  EXPECT_THAT(out, HasSubstr("\x1b[32mbetter\x1b[0m"));
  EXPECT_THAT(out, Not(HasSubstr("msame")));
}

TEST(CompareTable, foreign_text_cannot_move_the_cursor_or_break_a_cell) {
  ComparisonDocument document = example_comparison();
  Comparison& comparison = document.comparisons.front();
  comparison.entries[0].row = "row\n\x1b[2J|`";
  comparison.entries[0].reason = "a\tb\xff";
  comparison.differences[0].now = "x\n| y";
  comparison.missing[0] = "\x1b[1m on <b>";
  comparison.now.source = "new\n.json";
  for (const std::string& out : {at_width(document, 100), at_width(document, 40), markdown(document)}) {
    EXPECT_THAT(out, Not(HasSubstr("\x1b")));
    EXPECT_THAT(out, Not(HasSubstr("\t")));
    EXPECT_THAT(out, HasSubstr("row\\n\\x1b"));
    EXPECT_THAT(out, HasSubstr("new\\n.json"));
  }
  EXPECT_THAT(markdown(document), HasSubstr("\\<b\\>"));
}

TEST(CompareTable, each_new_run_has_its_verdict_at_the_top) {
  const std::string out = at_width(example_of_two(), 100);
  const std::size_t first = out.find("out/new.json: 3 worse");
  const std::size_t second = out.find("out/laptop.json: 1 unclear");
  ASSERT_NE(first, std::string::npos);
  ASSERT_NE(second, std::string::npos);
  EXPECT_LT(second, out.find("base "));
}

TEST(CompareTable, runs_without_a_common_row_say_so) {
  ComparisonDocument document;
  document.comparisons.emplace_back();
  EXPECT_THAT(at_width(document, 100), HasSubstr("nothing to compare"));
  EXPECT_THAT(markdown(document), HasSubstr("# Comparison: nothing to compare"));
}

TEST(CompareMarkdown, every_table_line_has_as_many_cells_as_its_head) {
  std::size_t cells = 0;
  for (const std::string& line : text::split(markdown(example_of_two()), '\n')) {
    if (!line.starts_with("| ")) {
      cells = 0;
      continue;
    }
    std::size_t bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    if (cells == 0) cells = bars;
    EXPECT_EQ(bars, cells) << line;
  }
}

TEST(CompareMarkdown, folds_away_what_did_not_change) {
  const std::string out = markdown(example_comparison());
  EXPECT_THAT(out, HasSubstr("<summary>2 figures of other metrics and quantiles: 1 same, 1 unclear"));
  EXPECT_LT(out.find("`total` p95"), out.find("<details>"));
}

}  // namespace
}  // namespace tare::verdict
