#include "runtime/gateway/schema.hpp"

#include <array>

#include <gmock/gmock.h>

#include "runtime/gateway/frame.hpp"

namespace tare::gateway {
namespace {

constexpr std::array fields{Field{"key", Kind::name, Need::required}, Field{"limit", Kind::whole},
                            Field{"archived", Kind::boolean_or_text}, Field{"scopes", Kind::texts},
                            Field{"label", Kind::text_or_null}};

std::string refused(std::string_view params) {
  try {
    check("invalid x params", "root", json::parse(params, "params"), fields);
    return "";
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
}

TEST(Schema, takes_what_it_names) {
  EXPECT_EQ(refused(R"({"key":"a"})"), "");
  EXPECT_EQ(refused(R"({"key":"a","limit":0,"archived":"all","scopes":["b"],"label":null})"), "");
}

TEST(Schema, is_closed) {
  EXPECT_EQ(refused(R"({"key":"a","bogus":1})"), "invalid x params: at root: unexpected property 'bogus'");
}

TEST(Schema, says_what_is_missing_and_what_is_of_another_kind) {
  EXPECT_EQ(refused("{}"), "invalid x params: at root: must have required property 'key'");
  EXPECT_EQ(refused("[]"), "invalid x params: at root: must be object");
  EXPECT_EQ(refused(R"({"key":""})"), "invalid x params: at /key: must be a non-empty string");
  EXPECT_EQ(refused(R"({"key":"a","limit":-1})"),
            "invalid x params: at /limit: must be a whole number, 0 or more");
  EXPECT_EQ(refused(R"({"key":"a","limit":1.5})"),
            "invalid x params: at /limit: must be a whole number, 0 or more");
  EXPECT_EQ(refused(R"({"key":"a","limit":18446744073709551615})"),
            "invalid x params: at /limit: must be a whole number, 0 or more");
  EXPECT_EQ(refused(R"({"key":"a","scopes":[1]})"),
            "invalid x params: at /scopes: must be an array of strings");
}

TEST(Schema, names_the_place_of_an_object_within) {
  try {
    check("invalid connect params", "/client", json::parse(R"({"key":1})", "params"), fields);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(), "invalid connect params: at /client/key: must be a non-empty string");
  }
}

TEST(Schema, members_that_are_absent_or_null_are_absent) {
  const json::Value value = json::parse(R"({"a":"x","n":null,"i":3,"b":true})", "v");
  EXPECT_EQ(text_of(value, "a"), "x");
  EXPECT_EQ(text_of(value, "n"), std::nullopt);
  EXPECT_EQ(whole_of(value, "i"), 3);
  EXPECT_EQ(whole_of(value, "a"), std::nullopt);
  EXPECT_EQ(boolean_of(value, "b"), true);
  EXPECT_EQ(boolean_of(value, "z"), std::nullopt);
}

}  // namespace
}  // namespace tare::gateway
