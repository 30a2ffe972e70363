#include "base/text.hpp"

#include <clocale>
#include <locale>

#include <gtest/gtest.h>

namespace tare::text {
namespace {

TEST(Text, splits_and_joins) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(join(std::vector<std::string>{"a", "b"}, " | "), "a | b");
  EXPECT_EQ(trim(" \t x y\r\n"), "x y");
}

TEST(Text, bad_utf8_is_escaped_and_never_dropped) {
  EXPECT_EQ(escape_bad_utf8("grün 木 😀"), "grün 木 😀");
  EXPECT_EQ(escape_bad_utf8("a\xff"
                            "b"),
            "a\\xffb");
  EXPECT_EQ(escape_bad_utf8("\xc3"), "\\xc3");                    // cut in the middle
  EXPECT_EQ(escape_bad_utf8("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(escape_bad_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(escape_bad_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Text, one_line_has_no_control_characters) {
  EXPECT_EQ(one_line("a\nb\x1b[0m\x7f"), "a\\nb\\x1b[0m\\x7f");
  EXPECT_EQ(one_line("\u009b2J \u00a0"), "\\xc2\\x9b2J \u00a0") << "C1 controls move the cursor too";
}

TEST(Text, tail_keeps_the_last_lines) {
  EXPECT_EQ(tail("one\ntwo\n\nthree\n", 2, 100), "two | three");
  EXPECT_EQ(tail("abcdef", 1, 3), "…def");
}

TEST(Text, cut_keeps_whole_characters) {
  EXPECT_EQ(cut("grün", 9), "grün");
  EXPECT_EQ(cut("grün", 4), "grü");
  EXPECT_EQ(cut("grün", 3), "gr");
  EXPECT_EQ(cut("😀", 3), "");
}

TEST(Text, width_counts_cells_not_bytes) {
  EXPECT_EQ(width("ms"), 2U);
  EXPECT_EQ(width("µs"), 2U);
  EXPECT_EQ(width("木"), 2U);
  EXPECT_EQ(width("e\u0301"), 1U);
}

TEST(Text, numbers_must_fill_the_whole_string) {
  EXPECT_EQ(to_int("200"), 200);
  EXPECT_EQ(to_int("-3"), -3);
  for (const char* bad : {"", "2x", " 2", "2.0", "99999999999999999999", "0x10"})
    EXPECT_EQ(to_int(bad), std::nullopt) << bad;
  EXPECT_EQ(to_double("2.5"), 2.5);
  for (const char* bad : {"", "2,5", "nan", "inf", "1e999"}) EXPECT_EQ(to_double(bad), std::nullopt) << bad;
}

TEST(Text, significant_has_three_digits_and_no_exponent) {
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(significant(0.0312), "0.0312");
  EXPECT_EQ(significant(0.31), "0.310");
  EXPECT_EQ(significant(9.996), "10.0");
  EXPECT_EQ(significant(27.94), "27.9");
  EXPECT_EQ(significant(223.4), "223");
  EXPECT_EQ(significant(999.7), "1,000");
  EXPECT_EQ(significant(14500), "14,500");
  EXPECT_EQ(significant(-2.5), "-2.50");
}

struct GermanPunctuation : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Text, numbers_do_not_follow_the_locale) {
  const std::locale old = std::locale::global(std::locale(std::locale::classic(), new GermanPunctuation));
  EXPECT_EQ(significant(27.94), "27.9");
  EXPECT_EQ(count(6400), "6,400");
  EXPECT_EQ(bytes(1500), "1.5 KB");
  EXPECT_EQ(to_double("2.5"), 2.5);
  std::locale::global(old);
}

TEST(Text, sizes_have_binary_units) {
  EXPECT_EQ(bytes(0), "0 B");
  EXPECT_EQ(bytes(1023), "1023 B");
  EXPECT_EQ(bytes(1536), "1.5 KB");
  EXPECT_EQ(bytes(161ULL << 20), "161 MB");
}

TEST(Text, suggests_only_near_words) {
  const std::vector<std::string> known = {"native", "node", "deno", "agentos"};
  EXPECT_EQ(did_you_mean("nod", known), "node");
  EXPECT_EQ(did_you_mean("agentso", known), "agentos");
  EXPECT_EQ(did_you_mean("ndoe", known), "node");
  EXPECT_EQ(did_you_mean("kubernetes", known), std::nullopt);
}

TEST(Text, shell_words_know_quotes_and_backslashes) {
  EXPECT_EQ(shell_words("docker run --rm img node -e {script}"),
            (std::vector<std::string>{"docker", "run", "--rm", "img", "node", "-e", "{script}"}));
  EXPECT_EQ(shell_words("a 'b c' \"d e\" f\\ g ''"),
            (std::vector<std::string>{"a", "b c", "d e", "f g", ""}));
  EXPECT_EQ(shell_words("a 'b"), std::nullopt);
  EXPECT_EQ(shell_words("  "), std::vector<std::string>{});
}

}  // namespace
}  // namespace tare::text
