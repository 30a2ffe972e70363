#include "net/utf8.hpp"

#include <gtest/gtest.h>

namespace tare::net {
namespace {

bool is_utf8(std::string_view text) {
  Utf8 whole;
  const bool valid = whole.feed(text) && whole.complete();
  for (std::size_t i = 0; i <= text.size(); ++i) {
    Utf8 split;
    EXPECT_EQ(split.feed(text.substr(0, i)) && split.feed(text.substr(i)) && split.complete(), valid)
        << text << " at " << i;
  }
  return valid;
}

TEST(Utf8, takes_every_length_up_to_the_last_code_point) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8(std::string_view("plain text, longer than eight\0", 30)));
  EXPECT_TRUE(is_utf8("\x7F\xC2\x80\xDF\xBF"));
  EXPECT_TRUE(is_utf8("\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF"));
  EXPECT_TRUE(is_utf8("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"));
  EXPECT_TRUE(is_utf8("aaaaaaaa\xF0\x9F\x98\x80 aaaaaaaaa\xC3\xA9"));
}

TEST(Utf8, refuses_what_is_none) {
  for (const std::string_view bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xED\xBF\xBF", "\xE2\x82", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE",
        "\xFF", "abcdefgh\xC3", "\xC3\xA9\xA9"}) {
    EXPECT_FALSE(is_utf8(bad)) << testing::PrintToString(bad);
  }
}

TEST(Utf8, is_refused_at_the_first_byte_that_cannot_be) {
  Utf8 text;
  EXPECT_TRUE(text.feed("\xF4"));
  EXPECT_FALSE(text.feed("\x90"));
}

}  // namespace
}  // namespace tare::net
