#include "serve/scripts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::serve {
namespace {

using testing::HasSubstr;

TEST(Scripts, a_capture_is_cut_to_the_exact_size) {
  EXPECT_EQ(capture_script("q7", 2), "process.stdout.write(\"q7\".repeat(1).slice(0, 2))");
  EXPECT_EQ(capture_script("q7", 5), "process.stdout.write(\"q7\".repeat(3).slice(0, 5))");
  EXPECT_EQ(capture_script("q7", 262144), "process.stdout.write(\"q7\".repeat(131072).slice(0, 262144))");
}

TEST(Scripts, what_is_still_being_written_is_not_cut_off_by_an_exit) {
  EXPECT_THAT(capture_script("q7", 262144), testing::Not(HasSubstr("exit")));
}

TEST(Scripts, what_is_written_is_quoted) {
  EXPECT_EQ(write_script("a\"b", "c\n"), R"(require('node:fs').writeFileSync("a\"b", "c\n"))");
}

TEST(Scripts, the_nested_one_knows_its_fanout) {
  EXPECT_THAT(nested_script(8), HasSubstr("fanout = 8;"));
}

}  // namespace
}  // namespace tare::serve
