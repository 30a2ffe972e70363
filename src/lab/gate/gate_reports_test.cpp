#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "lab/gate/example_gate.hpp"
#include "lab/gate/gate_github.hpp"
#include "lab/gate/gate_junit.hpp"
#include "lab/gate/gate_markdown.hpp"
#include "lab/gate/gate_table.hpp"
#include "lab/gate/gate_words.hpp"
#include "lab/report/golden.hpp"
#include "lab/report/layout.hpp"

namespace tare::gate {
namespace {

using report::Colour;
using report::expect_golden;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(GateReports, the_table) {
  expect_golden("gate_table.txt", gate_table(example_gate(), 100, Colour::off));
}

TEST(GateReports, the_markdown) {
  expect_golden("gate.md", gate_markdown(example_gate()));
}

TEST(GateReports, the_json) {
  expect_golden("gate.json", json::pretty(example_gate()));
}

TEST(GateReports, the_junit_file) {
  expect_golden("gate_junit.xml", gate_junit(example_gate()));
}

TEST(GateReports, the_annotations) {
  expect_golden("gate_github.txt", gate_annotations(example_gate()));
}

TEST(GateReports, the_json_reads_back_as_it_was) {
  const std::string text = json::pretty(example_gate());
  const auto back =
      json::read<GateDocument>(json::parse(text, "gate.json"), "gate.json", json::Unknown::refuse);
  EXPECT_EQ(json::pretty(back), text);
}

/// Results that differ in nothing but their row and what they measured.
GateDocument alike(const std::vector<std::string>& reasons) {
  GateDocument gate = example_gate();
  gate.budgets.clear();
  for (const std::string& reason : reasons) {
    BudgetResult one = example_result("b", FigureKind::quantile, "row_" + std::to_string(gate.budgets.size()),
                                      "node", "total");
    gate.budgets.push_back(judged_as(one, report::Verdict::inconclusive, reason));
  }
  gate.counts = {0, 0, gate.budgets.size(), 0};
  return gate;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

TEST(GateTable, says_once_what_many_results_share) {
  const std::string advice = "more processes would tell";
  const std::string table =
      gate_table(alike({"+1 %; " + advice, "other", "+2 %; " + advice, "+3 %; " + advice}), 100, Colour::off);
  EXPECT_EQ(times(table, advice), 1U) << table;
  EXPECT_THAT(table, HasSubstr("            +3 %\n            all 3: more processes would tell\n\n"));
  EXPECT_THAT(table,
              HasSubstr("row_1 on node, total\n            limit · measured n/a\n            other\n"));
  for (const char* row : {"row_0", "row_1", "row_2", "row_3"}) EXPECT_EQ(times(table, row), 1U);
  EXPECT_THAT(gate_table(alike({advice, advice}), 100, Colour::off), HasSubstr("both: " + advice));
  // A single one says all that it has to say in one go.
  EXPECT_THAT(gate_table(alike({"+1 %; " + advice}), 100, Colour::off), HasSubstr("+1 %; " + advice));
}

TEST(GateWords, the_headline_counts_figures_and_names_the_budgets) {
  GateDocument gate = example_gate();
  EXPECT_EQ(gate_line(gate), "3 of 8 figures failed, 1 unmeasured, 1 inconclusive (5 budgets)");
  std::erase_if(gate.budgets, [](const BudgetResult& r) { return r.verdict != report::Verdict::pass; });
  gate.counts = {3, 0, 0, 0};
  EXPECT_EQ(gate_line(gate), "all 3 figures passed (2 budgets)");
}

TEST(GateWords, a_total_tax_is_relative_to_the_native_floor) {
  GateDocument gate;
  BudgetSpec tax;
  tax.kind = BudgetKind::tax;
  tax.figure = "total";
  tax.max = Quantity{1, ""};
  report::Document run;
  run.rows.emplace_back().row = "a";
  run.rows.back().target = "app";
  EXPECT_EQ(full_name(evaluate({tax}, {"run.json", {}, &run}, {}, {}).budgets.at(1)),
            "a on app, app ÷ native, total p50");
}

TEST(GateTable, fits_every_terminal) {
  for (std::size_t width = 1; width < 130; ++width) {
    const std::string table = gate_table(example_gate(), width, Colour::off);
    for (const std::string& line : text::split(table, '\n')) {
      EXPECT_THAT(line, Not(EndsWith(" "))) << width;
      if (width < report::narrowest) continue;
      EXPECT_LE(text::width(line), width) << line;
    }
  }
}

TEST(GateTable, colour_adds_nothing_but_colour) {
  std::string coloured = gate_table(example_gate(), 100, Colour::on);
  EXPECT_THAT(coloured, HasSubstr("\x1b["));
  for (std::size_t at = 0; (at = coloured.find('\x1b', at)) != std::string::npos;)
    coloured.erase(at, coloured.find('m', at) + 1 - at);
  EXPECT_EQ(coloured, gate_table(example_gate(), 100, Colour::off));
}

TEST(GateMarkdown, is_cut_at_a_line_and_says_so) {
  const std::string whole = gate_markdown(example_gate());
  EXPECT_EQ(gate_markdown(example_gate(), whole.size()), whole);
  for (const std::size_t limit : {whole.size() - 1, whole.size() / 2, std::size_t{90}, std::size_t{1}}) {
    const std::string cut = gate_markdown(example_gate(), limit);
    EXPECT_LE(cut.size(), limit);
    if (limit < 100) continue;
    EXPECT_THAT(cut, EndsWith("\n\nThe rest is left out: the summary may not be larger.\n"));
  }
}

TEST(GateJunit, escapes_what_would_break_the_file) {
  EXPECT_EQ(xml_text("a<b>&\"c"), "a&lt;b&gt;&amp;&quot;c");
  EXPECT_EQ(xml_text("line\nnext\ttab"), "line&#10;next&#9;tab");
  EXPECT_EQ(xml_text(std::string_view("\x1b\0\x7f", 3)), "\\x1b\\x00\\x7f");
  EXPECT_EQ(xml_text("\xff é"), "\\xff é");
  EXPECT_EQ(xml_text("\xef\xbf\xbf"), "\\uFFFF");
}

TEST(GateGithub, escapes_what_would_end_a_command) {
  EXPECT_EQ(github_message("100 %\r\nnext: a, b"), "100 %25%0D%0Anext: a, b");
  EXPECT_EQ(github_message("\x1b[1m \xff"), "\\x1b[1m \\xff");
  EXPECT_EQ(github_property("100 %\na: b, c"), "100 %25%0Aa%3A b%2C c");
}

TEST(GateGithub, never_more_annotations_than_are_shown) {
  GateDocument gate = example_gate();
  gate.budgets.clear();
  for (int i = 0; i < 25; ++i) {
    gate.budgets.push_back(example_result("b" + std::to_string(i), FigureKind::quantile,
                                          "row_" + std::to_string(i), "node", "total"));
    gate.budgets.back().verdict = i < 14 ? report::Verdict::unmeasured : report::Verdict::inconclusive;
  }
  const std::string text = gate_annotations(gate);
  const auto lines = text::split(text, '\n');
  const auto starting = [&](const std::string& start) {
    return std::ranges::count_if(lines, [&](const std::string& line) { return line.starts_with(start); });
  };
  EXPECT_EQ(starting("::error "), 10);
  EXPECT_EQ(starting("::warning "), 10);
  EXPECT_THAT(lines.at(9), StartsWith("::error title=5 more figures::row_9 on node"));
  EXPECT_THAT(lines.at(9), HasSubstr("row_13 on node"));
}

TEST(GateGithub, a_gate_that_passed_says_nothing) {
  GateDocument gate = example_gate();
  std::erase_if(gate.budgets, [](const BudgetResult& r) { return r.verdict != report::Verdict::pass; });
  EXPECT_EQ(gate_annotations(gate), "");
}

}  // namespace
}  // namespace tare::gate
