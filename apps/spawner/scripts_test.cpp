#include "spawner/scripts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::spawner {
namespace {

using testing::ElementsAre;

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

}  // namespace
}  // namespace tare::spawner
