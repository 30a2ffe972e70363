#include "base/json.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::json {
namespace {

using ::testing::HasSubstr;

BOOST_DEFINE_ENUM_CLASS(Colour, red, green)

struct Inner {
  std::string unit;
  std::vector<double> samples;
};
BOOST_DESCRIBE_STRUCT(Inner, (), (unit, samples))

struct Outer {
  bool ok = false;
  std::uint64_t max_rss_bytes = 0;
  std::optional<double> p99;
  Colour colour = Colour::red;
  std::map<std::string, Inner> metrics;
  std::vector<Inner> list;
};
BOOST_DESCRIBE_STRUCT(Outer, (), (ok, max_rss_bytes, p99, colour, metrics, list))

std::string error_of(std::string_view text, Unknown unknown = Unknown::ignore) {
  try {
    read<Outer>(parse(text, "doc"), "doc", unknown);
  } catch (const Error& error) {
    return error.line();
  }
  return "no error";
}

constexpr std::string_view example =
    R"({"ok":true,"maxRssBytes":18446744073709551615,"p99":null,"colour":"green",)"
    R"("metrics":{"wait_reap":{"unit":"ms","samples":[0.1,25,1e-07]}},"list":[]})";

TEST(Json, reads_back_what_it_wrote) {
  const auto outer = read<Outer>(parse(example, "doc"), "doc");
  EXPECT_EQ(outer.max_rss_bytes, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(outer.p99, std::nullopt);
  EXPECT_EQ(outer.colour, Colour::green);
  EXPECT_EQ(line(outer), example);
}

TEST(Json, keys_of_maps_stay_as_they_are_and_members_become_camel_case) {
  EXPECT_EQ(camel("max_rss_bytes"), "maxRssBytes");
  EXPECT_EQ(camel("p50_interval"), "p50Interval");
  EXPECT_EQ(camel("ok"), "ok");
}

TEST(Json, doubles_are_read_to_the_last_bit) {
  for (const char* text : {"20.08", "0.468", "0.2496", "0.37829999999999997", "1e-07", "123456789.12345678",
                           "2.2250738585072014e-308", "1.7976931348623157e+308"}) {
    EXPECT_EQ(line(parse(text, "doc").as_double()), text);
  }
}

TEST(Json, doubles_are_as_short_as_reading_back_allows) {
  EXPECT_EQ(line(std::vector<double>{0.1, 25.0, 1.0 / 3, 27.900001}),
            "[0.1,25,0.3333333333333333,27.900001]");
}

TEST(Json, numbers_that_json_has_not_are_refused) {
  EXPECT_THROW(line(std::numeric_limits<double>::quiet_NaN()), Error);
  EXPECT_THROW(line(std::numeric_limits<double>::infinity()), Error);
}

TEST(Json, strings_are_escaped_and_bad_utf8_survives_as_text) {
  EXPECT_EQ(line(std::string("a\"\\\n\x01\xff ä")), R"("a\"\\\n\u0001\\xff ä")");
}

TEST(Json, pretty_keeps_numbers_on_one_line) {
  EXPECT_EQ(pretty(Inner{"ms", {1, 2}}), "{\n  \"unit\": \"ms\",\n  \"samples\": [1, 2]\n}\n");
  EXPECT_EQ(pretty(std::vector<Inner>{}), "[]\n");
}

TEST(Json, errors_name_the_place) {
  EXPECT_THAT(error_of("{}"), HasSubstr("doc: ok (missing)"));
  EXPECT_THAT(error_of(R"({"ok":1})"), HasSubstr("doc: ok (expected true or false, got a number)"));
  EXPECT_THAT(error_of(R"({"ok":true,"maxRssBytes":-1})"),
              HasSubstr("doc: maxRssBytes (expected a whole number"));
  EXPECT_THAT(error_of(R"({"ok":true,"maxRssBytes":1.5})"), HasSubstr("doc: maxRssBytes"));
  EXPECT_THAT(error_of(R"({"ok":true,"maxRssBytes":1,"colour":"blue"})"),
              HasSubstr("doc: colour (unknown name 'blue')"));
  EXPECT_THAT(
      error_of(
          R"({"ok":true,"maxRssBytes":1,"colour":"red","metrics":{"a":{"unit":"ms","samples":[1,"x"]}}})"),
      HasSubstr("doc: metrics.a.samples[1] (expected a number, got a string)"));
  EXPECT_THAT(error_of("[]"), HasSubstr("doc (expected an object, got an array)"));
}

TEST(Json, unknown_members_are_ignored_or_refused_by_policy) {
  const std::string text = std::string(example.substr(0, example.size() - 1)) + R"(,"later":1})";
  EXPECT_EQ(error_of(text), "no error");
  EXPECT_THAT(error_of(text, Unknown::refuse), HasSubstr("doc: later (unknown member)"));
}

TEST(Json, what_is_not_json_is_named) {
  EXPECT_THAT(error_of(""), HasSubstr("doc: not JSON (it is empty)"));
  EXPECT_THAT(error_of(R"({"ok":tr)"), HasSubstr("it ends early, after 8 bytes"));
  EXPECT_THAT(error_of("{} x"), HasSubstr("extra data at byte 3"));
  EXPECT_THAT(error_of("\xEF\xBB\xBF{}"), HasSubstr("byte order mark"));
  EXPECT_THAT(error_of(std::string("\xFF\xFE{\0}\0", 6)), HasSubstr("UTF-16"));
  EXPECT_THAT(error_of(R"({"ok":NaN})"), HasSubstr("not JSON"));
  EXPECT_THAT(error_of("{'ok':1}"), HasSubstr("at byte 1"));
}

}  // namespace
}  // namespace tare::json
