#include "serve/serve.hpp"

#include <filesystem>

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace tare::serve {
namespace {

std::string ask(std::string_view line) {
  const Handlers handlers{
      {"empty", [](const json::Value&) { return "{}"; }},
      {"answer", [](const json::Value&) { return R"({"a":1})"; }},
      {"refuse", [](const json::Value&) -> std::string { throw Refusal{"timeout", "too late"}; }},
      {"bad", [](const json::Value&) -> std::string { throw Error(ErrorCode::input, "params", "missing"); }},
      {"fail", [](const json::Value&) -> std::string { throw Error(ErrorCode::failed, "disk", "full"); }},
      {"long", [](const json::Value&) { return "{\"a\":\"" + std::string(line_limit, 'x') + "\"}"; }}};
  return answer(handlers, line).line;
}

TEST(Serve, an_answer_carries_the_id_and_the_members_of_the_handler) {
  EXPECT_EQ(ask(R"({"id":7,"op":"answer"})"), R"({"id":7,"ok":true,"a":1})");
  EXPECT_EQ(ask(R"({"id":4294967297,"op":"empty"})"), R"({"id":4294967297,"ok":true})");
}

TEST(Serve, refusals_and_errors_have_their_codes) {
  EXPECT_EQ(ask(R"({"id":1,"op":"dance"})"),
            R"({"id":1,"ok":false,"error":{"code":"unsupported","message":"no op 'dance'"}})");
  EXPECT_EQ(ask(R"({"id":1,"op":"refuse"})"),
            R"({"id":1,"ok":false,"error":{"code":"timeout","message":"too late"}})");
  EXPECT_EQ(ask(R"({"id":1,"op":"bad"})"),
            R"({"id":1,"ok":false,"error":{"code":"invalid","message":"params: missing"}})");
  EXPECT_EQ(ask(R"({"id":1,"op":"fail"})"),
            R"({"id":1,"ok":false,"error":{"code":"failed","message":"disk: full"}})");
}

TEST(Serve, an_exception_of_the_library_is_an_answer_and_no_end) {
  const Handlers handlers{{"look",
                           [](const json::Value&) -> std::string {
                             const auto denied = std::make_error_code(std::errc::permission_denied);
                             throw std::filesystem::filesystem_error("status", "/closed/door", denied);
                           }},
                          {"grow", [](const json::Value&) -> std::string { throw std::bad_alloc(); }}};
  const Answer look = answer(handlers, R"({"id":1,"op":"look"})");
  EXPECT_TRUE(look.line.starts_with(R"({"id":1,"ok":false,"error":{"code":"failed")")) << look.line;
  EXPECT_THAT(look.line, testing::HasSubstr("/closed/door"));
  EXPECT_FALSE(look.leave);
  const Answer grow = answer(handlers, R"({"id":2,"op":"grow"})");
  EXPECT_TRUE(grow.line.starts_with(R"({"id":2,"ok":false,"error":{"code":"failed")")) << grow.line;
}

TEST(Serve, what_is_no_request_is_answered_without_an_id) {
  for (const char* line : {"no JSON", "[1,2]", R"({"op":"answer"})", R"({"id":"x","op":"answer"})"}) {
    const std::string reply = ask(line);
    EXPECT_TRUE(reply.starts_with(R"({"id":null,"ok":false,"error":{"code":"invalid")")) << reply;
  }
}

TEST(Serve, an_answer_that_fits_no_line_is_an_error) {
  EXPECT_EQ(
      ask(R"({"id":1,"op":"long"})"),
      R"({"id":1,"ok":false,"error":{"code":"failed","message":"the answer does not fit a line of 16 MiB"}})");
}

TEST(Serve, bye_is_the_last_one) {
  const Answer last = answer({}, R"({"id":3,"op":"bye"})");
  EXPECT_EQ(last.line, R"({"id":3,"ok":true})");
  EXPECT_TRUE(last.leave);
  EXPECT_FALSE(answer({}, R"({"id":3,"op":"other"})").leave);
}

TEST(Serve, only_its_own_protocol_is_spoken) {
  EXPECT_NO_THROW(check_protocol(json::parse(R"({"protocol":"tare.driver.v1"})", "hello")));
  EXPECT_THROW(check_protocol(json::parse(R"({"protocol":"tare.driver.v2"})", "hello")), Refusal);
  EXPECT_THROW(check_protocol(json::parse("{}", "hello")), Refusal);
}

}  // namespace
}  // namespace tare::serve
