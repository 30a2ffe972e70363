#include "runtime/provider/mock_request.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace tare::provider {
namespace {

using testing::ElementsAre;

TEST(MockRequest, finds_the_users_text_before_what_openclaw_adds) {
  const MockRequest request = read_mock_request(Dialect::responses, R"({
    "model": "gpt", "stream": true, "max_output_tokens": 4096,
    "input": [
      {"role": "system", "content": "You are"},
      {"role": "user", "content": [{"type": "input_text", "text": "earlier"}]},
      {"role": "assistant", "content": [{"type": "output_text", "text": "yes"}]},
      {"role": "user", "content": [{"type": "input_text", "text": "[Mon] Do "}, {"type": "input_text", "text": "it"}]},
      {"role": "user", "content": "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>> more"}],
    "tools": [{"type": "function", "name": "exec"}, {"type": "web_search"}]})");
  EXPECT_EQ(request.model, "gpt");
  EXPECT_EQ(request.delivery, Delivery::stream);
  EXPECT_EQ(request.user_text, "[Mon] Do it");
  EXPECT_FALSE(request.after_tools);
  EXPECT_THAT(request.tools, ElementsAre("exec"));
  EXPECT_EQ(request.max_output_tokens, 4096U);
}

TEST(MockRequest, sees_that_results_of_calls_came_behind_the_text) {
  EXPECT_TRUE(read_mock_request(Dialect::responses, R"({"model":"m","input":[
      {"role":"user","content":"Do it"},
      {"type":"function_call","call_id":"c","name":"exec","arguments":"{}"},
      {"type":"function_call_output","call_id":"c","output":"done"}]})")
                  .after_tools);
  EXPECT_FALSE(read_mock_request(Dialect::responses, R"({"model":"m","input":[
      {"type":"function_call_output","call_id":"c","output":"done"},
      {"role":"user","content":"Again"}]})")
                   .after_tools);
}

TEST(MockRequest, reads_the_chat_dialect) {
  const MockRequest request = read_mock_request(Dialect::chat, R"({
    "model": "m", "stream": false, "max_tokens": 9,
    "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": []},
                 {"role": "tool", "tool_call_id": "c", "content": "x"}],
    "tools": [{"type": "function", "function": {"name": "exec"}}]})");
  EXPECT_EQ(request.delivery, Delivery::whole);
  EXPECT_EQ(request.user_text, "Hi");
  EXPECT_TRUE(request.after_tools);
  EXPECT_THAT(request.tools, ElementsAre("exec"));
  EXPECT_EQ(request.max_output_tokens, 9U);
}

TEST(MockRequest, reads_what_the_client_writes) {
  const ModelRequest asked{
      .model = "m", .system = "s", .items = {UserMessage{"Hi"}}, .tools = {{"exec", "", ""}}};
  for (const Dialect dialect : {Dialect::responses, Dialect::chat}) {
    const MockRequest request = read_mock_request(dialect, request_body(dialect, asked));
    EXPECT_EQ(request.delivery, Delivery::stream);
    EXPECT_EQ(request.user_text, "Hi");
    EXPECT_THAT(request.tools, ElementsAre("exec"));
  }
}

TEST(MockRequest, refuses_another_body_and_says_why) {
  const auto refusal = [](std::string_view body) -> std::string {
    try {
      read_mock_request(Dialect::chat, body);
      return "nothing";
    } catch (const Error& error) {
      return error.line();
    }
  };
  EXPECT_EQ(refusal(""), "tare: the body: not JSON (it is empty)");
  EXPECT_EQ(refusal("[]"), "tare: the body is not a JSON object");
  EXPECT_EQ(refusal("{}"), "tare: model is missing");
  EXPECT_EQ(refusal(R"({"model":"m","input":[]})"), "tare: messages is missing");
}

}  // namespace
}  // namespace tare::provider
