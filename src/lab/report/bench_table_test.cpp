#include "lab/report/bench_table.hpp"

#include <algorithm>
#include <chrono>
#include <locale>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "lab/report/example_document.hpp"
#include "lab/report/markdown.hpp"

namespace tare::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string at(const Document& document, std::size_t width) {
  RenderOptions options;
  options.width = width;
  return render(document, options);
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// One row on one target, with these samples.
Document one_row(const std::vector<double>& samples) {
  Document document;
  document.complete = true;
  Row row;
  row.bench = "spawn";
  row.row = "node_exit_1";
  row.target = "node";
  Metric metric;
  metric.unit = "ms";
  for (const double sample : samples) {
    metric.samples.emplace_back(sample);
    metric.outcome.push_back(Outcome::ok);
  }
  metric.summary = measure::summarise(samples);
  row.metrics["total"] = metric;
  row.outcomes["ok"] = samples.size();
  document.rows.push_back(row);
  return document;
}

TEST(Render, a_quick_run_fits_one_screen) {
  const std::string text = at(example_quick_run(), 100);
  EXPECT_LE(lines_of(text), 45u) << text;
}

TEST(Render, fits_every_terminal_from_forty_columns) {
  const Document document = example_document(200);
  for (std::size_t width = 1; width <= 200; width += width < 40 ? 13 : 1) {
    for (const std::string& line : text::split(at(document, width), '\n')) {
      if (width >= 40) {
        EXPECT_LE(text::width(line), width) << line;
      }
      EXPECT_FALSE(line.ends_with(' ')) << width << ": " << line;
    }
  }
}

TEST(Render, a_row_that_a_lane_does_not_have_says_why) {
  const std::string text = at(example_document(200), 100);
  EXPECT_THAT(text, HasSubstr("n/a³"));
  EXPECT_THAT(text, HasSubstr("³ native: has no child_process\n"));
  EXPECT_THAT(text, HasSubstr("missing     agentos: not installed\n"));
}

TEST(Render, failed_samples_show_in_n_and_in_a_footnote) {
  const std::string text = at(example_document(200), 100);
  EXPECT_THAT(text, HasSubstr("n=198/200"));
  EXPECT_THAT(text, HasSubstr("guest, fanout_32: 2 of 200 samples failed: no answer within 30 s"));
  EXPECT_THAT(text, HasSubstr("6,800 operations checked, warm-ups included, 2 broken"));
}

TEST(Render, a_ratio_whose_interval_holds_one_is_marked) {
  EXPECT_THAT(at(example_quick_run(), 100), HasSubstr("≈1.00×"));
}

TEST(Render, memory_at_the_floor_is_an_upper_bound) {
  Document document = one_row({1, 2, 3});
  document.rows[0].resources.max_rss_bytes = 1'450'000;
  document.rows[0].resources.max_rss_floor_bytes = 1'450'000;
  EXPECT_THAT(at(document, 100), HasSubstr("≤ 1.4 MB"));
  document.rows[0].resources.max_rss_bytes = 1'450'001;
  EXPECT_THAT(at(document, 100), Not(HasSubstr("≤")));
}

TEST(Render, one_sample_has_a_point_and_says_what_it_lacks) {
  const std::string text = at(one_row({27.9}), 100);
  EXPECT_THAT(text, HasSubstr("p50              27.9    n=1\n"));
  EXPECT_THAT(text, HasSubstr("95 % CI     n/a (n<6)\n"));
  EXPECT_THAT(text, HasSubstr("p95        n/a (n<20)\n"));
}

TEST(Render, no_samples_are_no_pass) {
  Document document = one_row({});
  document.rows[0].outcomes = {{"failed", 200}};
  document.rows[0].status = RowStatus::failed;
  document.rows[0].reason = "exit code 1 in every sample";
  const std::string text = at(document, 100);
  EXPECT_THAT(text, HasSubstr("nothing was measured"));
  EXPECT_THAT(text, HasSubstr("failed: exit code 1 in every sample"));
  EXPECT_THAT(text, HasSubstr("0 of 200 operations checked"));
  EXPECT_THAT(markdown(document), HasSubstr("fail –"));
}

TEST(Render, an_empty_document_says_that_nothing_was_measured) {
  for (const std::size_t width : {1, 10, 40, 100}) {
    EXPECT_THAT(at({}, width), HasSubstr("nothing")) << width;
  }
  EXPECT_THAT(at({}, 100), HasSubstr("no sample was taken, so none was checked"));
  EXPECT_THAT(markdown({}), HasSubstr("# run: unmeasured"));
}

TEST(Render, only_unavailable_rows_give_reasons_instead_of_a_table) {
  Document document = example_document(6);
  std::erase_if(document.rows, [](const Row& row) { return row.target != "agentos"; });
  const std::string text = at(document, 100);
  EXPECT_THAT(text, HasSubstr("nothing was measured"));
  EXPECT_THAT(text, HasSubstr("agentos: not installed\n"));
}

TEST(Render, a_run_cut_short_says_so) {
  Document document = example_quick_run();
  document.complete = false;
  std::erase_if(document.rows,
                [](const Row& row) { return row.row == "reap_storm_32" && row.target == "node"; });
  const std::string text = at(document, 100);
  EXPECT_THAT(text, HasSubstr("partial     the run was cut short"));
  EXPECT_THAT(text, HasSubstr("node: not reached before the run ended"));
  EXPECT_THAT(markdown(document), HasSubstr("# spawn → exit: inconclusive – the run was cut short"));
}

TEST(Render, another_unit_is_named_in_its_cell) {
  Document document = example_quick_run();
  for (Row& row : document.rows) {
    if (row.row == "capture_256k") row.metrics["total"].unit = "us";
  }
  EXPECT_THAT(at(document, 100), HasSubstr("26.2 us"));
}

TEST(Render, a_broken_invariant_fails_even_when_the_document_says_that_all_is_well) {
  Document document = one_row({1, 2});
  document.rows[0].invariants = {{"exit_code", true, 2, 1, "0", "7"}};
  EXPECT_THAT(at(document, 100),
              HasSubstr("node_exit_1 on node: exit_code: expected 0, got 7 (1 of 2 samples)"));
  EXPECT_THAT(markdown(document), HasSubstr("# spawn → exit: fail –"));
}

TEST(Render, only_verdicts_and_failures_have_colour) {
  RenderOptions options;
  options.colour = Colour::on;
  const std::string text = render(example_document(200), options);
  EXPECT_THAT(text, HasSubstr("\x1b[31m10.9\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[32mnode_exit_1.p50: 27.9 measured"));
  EXPECT_THAT(text, HasSubstr("\nfanout_8              92.5"));
  EXPECT_THAT(at(example_document(200), 100), Not(HasSubstr("\x1b")));
}

TEST(Render, foreign_text_cannot_break_out_of_its_line) {
  Document document = one_row({1, 2, 3});
  document.rows[0].row = "a|b\n\x1b[2J\xff 界🚀";
  document.rows[0].target = "*x*";
  document.findings = {{FindingLevel::warn, {}, {}, "<script>\r\n| x |"}};
  const std::string text = at(document, 100);
  EXPECT_THAT(text, HasSubstr("a|b\\n\\x1b[2J\\xff 界🚀"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  const std::string page = markdown(document);
  EXPECT_THAT(page, HasSubstr("`a\\|b\\n"));
  EXPECT_THAT(page, HasSubstr("\\<script\\>\\\\r\\\\n\\| x \\|"));
}

TEST(Render, ten_thousand_rows_take_no_quadratic_time) {
  Document document;
  const Document one = one_row({1, 2, 3, 4, 5, 6});
  for (int i = 0; i < 10'000; ++i) {
    document.rows.push_back(one.rows[0]);
    document.rows.back().row = "row_" + std::to_string(i);
  }
  // A quadratic renderer takes minutes here; the test's own time limit fails it.
  EXPECT_GT(lines_of(at(document, 100)), 10'000u);
  EXPECT_GT(lines_of(markdown(document)), 10'000u);
}

TEST(Render, the_locale_changes_nothing) {
  struct German : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const Document document = example_document(200);
  const std::string text = at(document, 100);
  const std::string page = markdown(document);
  const std::string json = to_json(document);
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new German));
  EXPECT_EQ(at(document, 100), text);
  EXPECT_EQ(markdown(document), page);
  EXPECT_EQ(to_json(document), json);
  std::locale::global(before);
}

}  // namespace
}  // namespace tare::report
