#include "spawner/scripts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::spawner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Scripts, take_the_place_of_every_slot_in_every_word) {
  EXPECT_THAT(with_script({"docker", "run", "img", "{script}"}, "f(1)"),
              ElementsAre("docker", "run", "img", "f(1)"));
  EXPECT_THAT(with_script({"a{script}b{script}", "{script"}, "{script}x"),
              ElementsAre("a{script}xb{script}x", "{script"));
  EXPECT_TRUE(has_script_slot({"x", "--eval={script}"}));
  EXPECT_FALSE(has_script_slot({"x", "{ script }"}));
  EXPECT_FALSE(has_script_slot({}));
}

TEST(Scripts, foreign_text_cannot_leave_its_string) {
  EXPECT_EQ(write_file_script("a'\"\\\n`", "${x}"),
            "require('node:fs').writeFileSync(\"a'\\\"\\\\\\n`\", \"${x}\")");
}

TEST(Scripts, a_capture_is_cut_to_the_exact_size) {
  EXPECT_EQ(capture_script("q7", 2), "process.stdout.write(\"q7\".repeat(1).slice(0, 2))");
  EXPECT_EQ(capture_script("q7", 5), "process.stdout.write(\"q7\".repeat(3).slice(0, 5))");
  EXPECT_EQ(capture_script("q7", 262144), "process.stdout.write(\"q7\".repeat(131072).slice(0, 262144))");
}

TEST(Scripts, what_is_still_being_written_is_not_cut_off_by_an_exit) {
  EXPECT_THAT(capture_script("q7", 262144), testing::Not(HasSubstr("exit")));
  EXPECT_EQ(exit_script(7), "process.exit(7)");
}

TEST(Scripts, the_nested_one_knows_its_fanout) {
  EXPECT_THAT(nested_script(8), HasSubstr("fanout = 8;"));
}

}  // namespace
}  // namespace tare::spawner
