#include "base/error.hpp"

#include <cerrno>

#include <gtest/gtest.h>

namespace tare {
namespace {

TEST(Error, line_says_what_why_and_what_to_do) {
  const Error error(ErrorCode::unavailable, "agentos is not installed", "255 MB",
                    "`tare targets install agentos`");
  EXPECT_EQ(error.line(), "tare: agentos is not installed (255 MB); `tare targets install agentos`");
  EXPECT_EQ(Error(ErrorCode::failed, "it broke").line(), "tare: it broke");
}

TEST(Error, line_stays_one_line_whatever_a_program_printed) {
  const Error error(ErrorCode::failed, "driver said 'a\nb\x1b[2J\xff'");
  EXPECT_EQ(error.line(), "tare: driver said 'a\\nb\\x1b[2J\\xff'");
}

TEST(Error, exit_code_follows_the_kind) {
  EXPECT_EQ(Error(ErrorCode::usage, "").exit_code(), 2);
  EXPECT_EQ(Error(ErrorCode::input, "").exit_code(), 2);
  EXPECT_EQ(Error(ErrorCode::unavailable, "").exit_code(), 2);
  EXPECT_EQ(Error(ErrorCode::failed, "").exit_code(), 1);
  EXPECT_EQ(Error(ErrorCode::timeout, "").exit_code(), 1);
}

TEST(Error, errno_text_does_not_follow_the_locale) {
  EXPECT_EQ(errno_text(ENOSPC), "No space left on device");
}

}  // namespace
}  // namespace tare
