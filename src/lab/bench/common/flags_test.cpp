#include "lab/bench/common/flags.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace tare::bench {
namespace {

using testing::ElementsAre;

template <class F>
std::string refusal(F parse, ExitCode code = exit_usage) {
  try {
    parse();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), code);
    return error.what();
  }
  return "accepted";
}

TEST(Flags, a_list_of_numbers_is_told_apart_by_value) {
  EXPECT_THAT(number_list("--fanout", "1, 8,32", {1, 256}), ElementsAre(1, 8, 32));
  EXPECT_EQ(refusal([] { number_list("--fanout", "8,08", {1, 256}); }), "--fanout names '8' twice");
  EXPECT_EQ(refusal([] { number_list("--fanout", "8,8", {1, 256}); }), "--fanout names '8' twice");
  EXPECT_EQ(refusal([] { number_list("--fanout", "8,257", {1, 256}); }),
            "--fanout must be 1 to 256, got 257");
  EXPECT_EQ(refusal([] { number_list("--fanout", "8,", {1, 256}); }), "--fanout has an empty item in '8,'");
  EXPECT_EQ(refusal([] { number_list("--fanout", "", {1, 256}); }), "--fanout has an empty item in ''");
}

TEST(Flags, targets_are_names_and_then_what_was_added) {
  EXPECT_THAT(target_list({}, {"x=driver:./x"}, {"node"}), ElementsAre("node", "x=driver:./x"));
  EXPECT_THAT(target_list("a,b", {}, {"node"}), ElementsAre("a", "b"));
  EXPECT_EQ(refusal([] { target_list("a,a", {}, {}); }), "--targets names 'a' twice");
  EXPECT_EQ(refusal([] { target_list("a", {"a=driver:x"}, {}); }), "target 'a' is named twice");
  EXPECT_EQ(refusal([] { target_list("a=driver:x", {}, {}); }), "--targets takes names, got 'a=driver:x'");
}

TEST(Flags, a_file_is_held_to_the_same_limits) {
  EXPECT_NO_THROW(check_range("run.json", "runs", 100, {1, 100}));
  EXPECT_EQ(refusal([] { check_range("run.json", "runs", 101, {1, 100}); }), "run.json: config.runs");
  EXPECT_EQ(refusal([] { check_range("run.json", "runs", 0, {1, 100}); }), "run.json: config.runs");
}

TEST(Flags, a_resumed_run_is_asked_for_the_same_only) {
  EXPECT_NO_THROW(check_same("run.json", "--runs", false, false));
  EXPECT_NO_THROW(check_same("run.json", "--runs", true, true));
  EXPECT_EQ(refusal([] { check_same("run.json", "--runs", true, false); }), "cannot resume run.json");
}

}  // namespace
}  // namespace tare::bench
