#include "runtime/gateway/json_text.hpp"

#include <limits>

#include <gmock/gmock.h>

#include "base/json.hpp"

namespace tare::gateway {
namespace {

TEST(JsonText, writes_an_object_member_by_member) {
  std::string out;
  ObjectText(out)
      .text("key", "agent:main:a")
      .number("limit", -3)
      .boolean("ok", true)
      .null("next")
      .json("rows", "[1,2]")
      .close();
  EXPECT_EQ(out, R"({"key":"agent:main:a","limit":-3,"ok":true,"next":null,"rows":[1,2]})");
}

TEST(JsonText, every_byte_of_a_string_reads_back) {
  std::string text;
  for (char c = 0; c >= 0; ++c) {
    text += c;
    if (c == 127) break;
  }
  text += "gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80";
  std::string out;
  append_string(out, text);
  EXPECT_EQ(std::string_view(json::parse(out, "out").get_string()), text);
}

TEST(JsonText, what_is_not_finite_is_null) {
  std::string out;
  append_number(out, std::numeric_limits<double>::quiet_NaN());
  out += ' ';
  append_number(out, 0.25);
  EXPECT_EQ(out, "null 0.25");
}

}  // namespace
}  // namespace tare::gateway
