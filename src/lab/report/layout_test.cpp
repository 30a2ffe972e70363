#include "lab/report/layout.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace tare::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Table two_lanes() {
  Table table;
  table.title = "op, ms";
  table.lanes = {{"native", {{"p50", Align::right}, {"CPU", Align::right}}},
                 {"node", {{"p50", Align::right}}}};
  table.lines = {{{"exit"}, {{"25.1"}, {"25.0"}, {"27.9"}}, "n=200"},
                 {{"fanout_8"}, {{"61.0"}, {}, {"n/a", Tone::plain, "¹"}}, "n=20"}};
  return table;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (const std::string& line : text::split(text, '\n')) widest = std::max(widest, text::width(line));
  return widest;
}

TEST(Layout, aligns_lanes_under_their_titles) {
  EXPECT_EQ(lay_out(two_lanes(), 100, Colour::off),
            "op, ms      native        node\n"
            "             p50   CPU     p50\n"
            "exit        25.1  25.0    27.9    n=200\n"
            "fanout_8    61.0           n/a¹   n=20\n");
}

TEST(Layout, a_lane_of_one_column_without_a_head_has_one_line_above_it) {
  Table table;
  table.title = "op, ms";
  table.label_columns = 2;
  table.lanes = {{"native", {{}}}, {"node", {{}}}};
  table.lines = {{{"exit", "p50"}, {{"25.1"}, {"27.9"}}, "n=200"},
                 {{"exit", "p95"}, {{"27.44"}, {"31"}}, ""}};
  EXPECT_EQ(lay_out(table, 100, Colour::off),
            "op, ms       native    node\n"
            "exit  p50      25.1    27.9   n=200\n"
            "      p95     27.44      31\n");
}

TEST(Layout, too_wide_a_table_becomes_blocks_of_lanes) {
  EXPECT_EQ(lay_out(two_lanes(), 36, Colour::off),
            "op, ms      native\n"
            "             p50   CPU\n"
            "exit        25.1  25.0   n=200\n"
            "fanout_8    61.0         n=20\n"
            "\n"
            "op, ms      node\n"
            "             p50\n"
            "exit        27.9    n=200\n"
            "fanout_8     n/a¹   n=20\n");
}

TEST(Layout, too_narrow_for_one_lane_gives_a_line_a_figure) {
  EXPECT_EQ(lay_out(two_lanes(), 28, Colour::off),
            "op, ms\n"
            "exit native p50 25.1 n=200\n"
            "exit native CPU 25.0 n=200\n"
            "exit node p50 27.9 n=200\n"
            "fanout_8 native p50 61.0\n"
            "n=20\n"
            "fanout_8 node p50 n/a¹ n=20\n");
}

TEST(Layout, natural_width_is_the_width_without_a_split) {
  const std::size_t natural = natural_width(two_lanes());
  EXPECT_EQ(natural, widest_line(lay_out(two_lanes(), 100, Colour::off)));
  EXPECT_EQ(lay_out(two_lanes(), natural, Colour::off), lay_out(two_lanes(), 100, Colour::off));
  EXPECT_NE(lay_out(two_lanes(), natural - 1, Colour::off), lay_out(two_lanes(), 100, Colour::off));
}

TEST(Layout, wide_and_combining_characters_keep_the_columns_straight) {
  Table table = two_lanes();
  table.lines[0].labels[0] = "出口";
  table.lines[1].labels[0] = "e\u0301xit";
  table.lines.push_back({{"🚀x"}, {{"1"}, {"2"}, {"3"}}, ""});
  EXPECT_EQ(lay_out(table, 100, Colour::off),
            "op, ms    native        node\n"
            "           p50   CPU     p50\n"
            "出口      25.1  25.0    27.9    n=200\n"
            "e\u0301xit      61.0           n/a¹   n=20\n"
            "🚀x          1     2       3\n");
}

TEST(Layout, bad_utf8_and_control_characters_cannot_break_a_line) {
  Table table = two_lanes();
  table.lines[0].labels[0] = "a\nb\x1b[31m\xff";
  const std::string text = lay_out(table, 100, Colour::off);
  EXPECT_THAT(text, HasSubstr("a\\nb\\x1b[31m\\xff"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST(Layout, fits_every_width_from_forty_and_never_ends_a_line_in_a_space) {
  Table table = two_lanes();
  table.lines[0].labels[0] = std::string(70, 'x') + "界界界";
  table.lines[1].cells[2].text = "a reason that is quite a bit longer than a figure would be, in words";
  table.lines.push_back({{""}, {}, ""});
  for (std::size_t width = 1; width <= 220; ++width) {
    const std::string text = lay_out(table, width, Colour::off) +
                             paragraph("host", "2 × CPU · a · b", width) +
                             paragraph("reason", std::string(150, 'y') + " é " + std::string(80, 'z'), width);
    if (width >= narrowest) {
      EXPECT_LE(widest_line(text), width);
    }
    EXPECT_THAT(text, Not(HasSubstr(" \n"))) << width;
  }
}

TEST(Layout, an_empty_table_is_its_heading) {
  EXPECT_EQ(lay_out({}, 100, Colour::off), "");
  Table table = two_lanes();
  table.lines.clear();
  EXPECT_EQ(lay_out(table, 100, Colour::off), "op, ms    native      node\n          p50  CPU     p50\n");
  EXPECT_EQ(lay_out(table, 1, Colour::off), "op,\nms\n");
  table.lanes.clear();
  EXPECT_EQ(lay_out(table, 100, Colour::off), "op, ms\n");
}

TEST(Layout, footnote_marks_hang_to_the_right_of_the_figures) {
  Table table;
  table.lanes = {{"node", {{}}}, {"bun", {{"p50"}}}};
  table.lines = {{{"a"}, {{"27.9"}, {"1.5", Tone::plain, "¹"}}, "n=2"}, {{"b"}, {{"104"}, {"22.5"}}, "n=2"}};
  EXPECT_EQ(lay_out(table, 100, Colour::off),
            "     node    bun\n"
            "              p50\n"
            "a    27.9     1.5¹   n=2\n"
            "b     104    22.5    n=2\n");
}

TEST(Layout, a_block_leaves_out_lines_that_say_nothing_about_its_lanes) {
  Table table;
  table.lanes = {{"a-wide-lane", {{}}}, {"another-wide-lane", {{}}}};
  table.lines = {{{"p50"}, {{"1"}, {"2"}}, ""}, {{"tax"}, {{""}, {"2×"}}, ""}};
  EXPECT_EQ(lay_out(table, 30, Colour::off),
            "       a-wide-lane\n"
            "p50              1\n"
            "\n"
            "       another-wide-lane\n"
            "p50                    2\n"
            "tax                   2×\n");
}

TEST(Layout, colour_marks_a_cell_and_takes_no_room) {
  Table table = two_lanes();
  table.lines[1].cells[2].tone = Tone::bad;
  const std::string text = lay_out(table, 100, Colour::on);
  EXPECT_THAT(text, HasSubstr("fanout_8    61.0           \x1b[31mn/a\x1b[0m\x1b[31m¹\x1b[0m   n=20\n"));
  EXPECT_THAT(text, HasSubstr("exit        25.1  25.0    27.9    n=200\n"));
}

TEST(Layout, ten_thousand_lines_are_laid_out_at_once) {
  Table table = two_lanes();
  for (int i = 0; i < 10'000; ++i) table.lines.push_back({{"row"}, {{"1"}, {"2"}, {"3"}}, "n=1"});
  const std::string text = lay_out(table, 100, Colour::off);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10'004);
}

TEST(Wrap, breaks_at_spaces) {
  EXPECT_THAT(wrap("one two three", 8, LongWords::whole), testing::ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("one two three", 7, LongWords::broken), testing::ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("", 7, LongWords::broken), testing::ElementsAre(""));
}

TEST(Wrap, long_words_stay_whole_or_break_between_characters) {
  EXPECT_THAT(wrap("a abcdefgh b", 3, LongWords::whole), testing::ElementsAre("a", "abcdefgh", "b"));
  EXPECT_THAT(wrap("a abcdefgh b", 3, LongWords::broken), testing::ElementsAre("a", "abc", "def", "gh", "b"));
  EXPECT_THAT(wrap("界界界", 5, LongWords::broken), testing::ElementsAre("界界", "界"));
  EXPECT_THAT(wrap("界界", 1, LongWords::broken), testing::ElementsAre("界", "界"));
}

TEST(Paragraph, hangs_beside_its_label) {
  EXPECT_EQ(paragraph("host", "2 × AMD EPYC · Linux 6.18 · load 0.40", 40),
            "host        2 × AMD EPYC · Linux 6.18 ·\n"
            "            load 0.40\n");
  EXPECT_EQ(paragraph("host", "2 × AMD EPYC · governor unavailable", 40),
            "host        2 × AMD EPYC ·\n"
            "            governor unavailable\n");
  EXPECT_EQ(paragraph("host", "2 × AMD EPYC", 10), "host\n2 × AMD\nEPYC\n");
}

}  // namespace
}  // namespace tare::report
