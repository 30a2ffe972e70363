#include "runtime/provider/directives.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace tare::provider {
namespace {

using std::chrono::microseconds;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Directives, are_found_anywhere_in_the_text) {
  const Directives found = parse_directives(
      "[Mon 2026-01-31 12:00] Please [[marker:s-7 é]] with [[chunks:3]][[delay:0.5]] and "
      "[[fault:cut,after=2]].");
  EXPECT_EQ(found.marker, "s-7 é");
  EXPECT_EQ(found.chunks, 3U);
  EXPECT_EQ(found.delay, microseconds(500));
  EXPECT_EQ(found.fault, parse_fault("cut,after=2", ""));
  EXPECT_THAT(found.calls, IsEmpty());
  EXPECT_EQ(found.subagents, 0U);
}

TEST(Directives, a_plain_text_has_none) {
  for (const char* text :
       {"", "Hello", "[[", "]]", "[[x]]", "[[marker]]", "a[[0]][[1]] = [[other:1]]", "[[marker:a"}) {
    const Directives found = parse_directives(text);
    EXPECT_FALSE(found.marker || found.chunks || found.delay || found.fault) << text;
  }
}

TEST(Directives, of_several_markers_the_last_counts) {
  EXPECT_EQ(parse_directives("[[marker:a]] then [[marker:b]]").marker, "b");
}

TEST(Directives, calls_take_arguments_with_brackets_in_them) {
  EXPECT_THAT(parse_directives(R"([[tool:exec {"argv":[["a"]],"note":"]]"}]] [[tool:now]])").calls,
              ElementsAre(WantedCall{"exec", R"({"argv":[["a"]],"note":"]]"})"}, WantedCall{"now", "{}"}));
  EXPECT_EQ(parse_directives("[[subagents:5]]").subagents, 5U);
}

TEST(Directives, a_bad_value_is_an_error_that_names_it) {
  for (const char* text :
       {"[[marker:]]", "[[chunks:0]]", "[[chunks:x]]", "[[chunks:100001]]", "[[delay:-1]]", "[[delay:nan]]",
        "[[delay:]]", "[[fault:stal]]", "[[fault:]]", "[[tool:]]", "[[tool:exec", "[[tool:exec {]]",
        "[[tool:exec [1]]]", "[[subagents:0]]", "[[subagents:101]]"}) {
    EXPECT_THROW(parse_directives(text), Error) << text;
  }
  try {
    parse_directives("[[chunks:0]]");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.line(), "tare: [[chunks:0]] in the text cannot be done (it takes 1 to 100000)");
  }
}

}  // namespace
}  // namespace tare::provider
