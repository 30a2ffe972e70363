#include "runtime/gateway/frame.hpp"

#include <gmock/gmock.h>

namespace tare::gateway {
namespace {

using testing::HasSubstr;

std::string refusal_of(std::string_view text) {
  try {
    parse_request(text);
    return "it was taken";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.fault().code, Code::invalid_request);
    return refusal.what();
  } catch (const NotJson&) {
    return "not JSON";
  }
}

TEST(Frame, a_request_has_an_id_a_method_and_params) {
  const RequestFrame frame = parse_request(R"({"type":"req","id":"7","method":"health","params":{"a":1}})");
  EXPECT_EQ(frame.id, "7");
  EXPECT_EQ(frame.method, "health");
  EXPECT_EQ(frame.params.at("a").as_int64(), 1);
  EXPECT_TRUE(parse_request(R"({"type":"req","id":"7","method":"health"})").params.as_object().empty());
}

TEST(Frame, what_is_no_request_is_refused_by_the_place_that_is_wrong) {
  EXPECT_THAT(refusal_of("[]"), HasSubstr("at root: must be object"));
  EXPECT_THAT(refusal_of(R"({"type":"event","id":"1","method":"m"})"), HasSubstr("at /type"));
  EXPECT_THAT(refusal_of(R"({"type":"req","method":"m"})"), HasSubstr("at /id"));
  EXPECT_THAT(refusal_of(R"({"type":"req","id":1,"method":"m"})"), HasSubstr("at /id"));
  EXPECT_THAT(refusal_of(R"({"type":"req","id":"1","method":""})"), HasSubstr("at /method"));
  EXPECT_THAT(refusal_of(R"({"type":"req","id":"1","method":"m","bogus":1})"),
              HasSubstr("unexpected property 'bogus'"));
}

TEST(Frame, what_is_not_json_or_too_deep_is_told_apart) {
  EXPECT_EQ(refusal_of("hello"), "not JSON");
  EXPECT_EQ(refusal_of(""), "not JSON");
  EXPECT_EQ(refusal_of(R"({"type":"req")"), "not JSON");
  EXPECT_EQ(refusal_of(R"({"type":"req","id":"1","method":"m","params":)" + std::string(5000, '[') +
                       std::string(5000, ']') + "}"),
            "not JSON");
}

TEST(Frame, a_refused_frame_is_answered_under_its_own_id) {
  EXPECT_EQ(id_of(R"({"type":"nonsense","id":"9"})"), "9");
  EXPECT_EQ(id_of("[]"), "invalid");
}

TEST(Frame, responses) {
  EXPECT_EQ(response_text("1", R"({"ok":true})"),
            R"({"type":"res","id":"1","ok":true,"payload":{"ok":true}})");
  Fault fault{Code::unavailable, "try again", R"({"reason":"startup-sidecars"})", Retry::later,
              std::chrono::milliseconds(250)};
  EXPECT_EQ(response_text("1", fault),
            R"({"type":"res","id":"1","ok":false,"error":{"code":"UNAVAILABLE","message":"try again",)"
            R"("details":{"reason":"startup-sidecars"},"retryable":true,"retryAfterMs":250}})");
}

TEST(Frame, an_event_is_written_once_and_numbered_for_each_connection) {
  const auto text = event_text("tick", R"({"ts":1})");
  EXPECT_EQ(*text + event_end(1), R"({"type":"event","event":"tick","payload":{"ts":1},"seq":1})");
  EXPECT_EQ(*text + event_end(42), R"({"type":"event","event":"tick","payload":{"ts":1},"seq":42})");
}

TEST(Frame, what_is_kept_or_quoted_is_short) {
  const std::string text = R"({"type":"req","method":"m","id":")" + std::string(1025, 'i') + R"("})";
  EXPECT_THROW(parse_request(text), Refusal);
  EXPECT_EQ(id_of(text), "invalid");
  const Refusal refusal(Code::invalid_request, "unknown method: " + std::string(100'000, 'm'));
  EXPECT_LT(error_text(refusal.fault()).size(), 2100u);
}

}  // namespace
}  // namespace tare::gateway
