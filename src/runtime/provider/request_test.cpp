#include "runtime/provider/request.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/json.hpp"

namespace tare::provider {
namespace {

json::Value body(Dialect dialect, const ModelRequest& request) {
  return json::parse(request_body(dialect, request), "the body");
}

json::Value expected(std::string_view text) {
  return json::parse(text, "what is expected");
}

/// A conversation with one round of a tool in it.
ModelRequest example() {
  return {.model = "m",
          .system = "Be brief.",
          .items = {UserMessage{"What \"time\" is it?"},
                    AssistantMessage{"I'll look.", {{"c1", "exec", R"({"command":"date"})"}}},
                    ToolResult{"c1", "noon\n"}},
          .tools = {{"exec", "Runs a command.", R"({"type":"object"})"}},
          .max_output_tokens = 240};
}

TEST(RequestBody, in_the_responses_dialect) {
  EXPECT_EQ(body(Dialect::responses, example()), expected(R"({
    "model": "m", "stream": true, "max_output_tokens": 240, "store": false,
    "input": [
      {"role": "system", "content": "Be brief."},
      {"role": "user", "content": "What \"time\" is it?"},
      {"role": "assistant", "content": "I'll look."},
      {"type": "function_call", "call_id": "c1", "name": "exec", "arguments": "{\"command\":\"date\"}"},
      {"type": "function_call_output", "call_id": "c1", "output": "noon\n"}],
    "tools": [{"type": "function", "name": "exec", "description": "Runs a command.",
               "parameters": {"type": "object"}}],
    "parallel_tool_calls": true})"));
}

TEST(RequestBody, in_the_chat_dialect) {
  EXPECT_EQ(body(Dialect::chat, example()), expected(R"({
    "model": "m", "stream": true, "max_tokens": 240, "stream_options": {"include_usage": true},
    "messages": [
      {"role": "system", "content": "Be brief."},
      {"role": "user", "content": "What \"time\" is it?"},
      {"role": "assistant", "content": "I'll look.", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "exec", "arguments": "{\"command\":\"date\"}"}}]},
      {"role": "tool", "tool_call_id": "c1", "content": "noon\n"}],
    "tools": [{"type": "function", "function": {"name": "exec", "description": "Runs a command.",
               "parameters": {"type": "object"}}}],
    "parallel_tool_calls": true})"));
}

TEST(RequestBody, leaves_out_what_there_is_not) {
  EXPECT_EQ(body(Dialect::responses, {.model = "m", .items = {UserMessage{"Hi"}}}), expected(R"({
    "model": "m", "stream": true, "store": false, "input": [{"role": "user", "content": "Hi"}]})"));
  EXPECT_EQ(body(Dialect::chat, {.model = "m", .items = {AssistantMessage{"", {{"c", "f", "{}"}}}}}),
            expected(R"({
    "model": "m", "stream": true, "stream_options": {"include_usage": true},
    "messages": [{"role": "assistant", "content": null, "tool_calls": [
      {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}]})"));
}

TEST(RequestBody, is_json_whatever_bytes_the_texts_have) {
  const ModelRequest request{.model = "m", .items = {UserMessage{std::string("\xff\x00\x1b\"\\é😀", 12)}}};
  for (const Dialect dialect : {Dialect::responses, Dialect::chat}) EXPECT_NO_THROW(body(dialect, request));
}

TEST(RequestBody, refuses_a_tool_whose_parameters_are_not_json) {
  const ModelRequest request{.model = "m", .tools = {{"exec", "", "{"}}};
  try {
    request_body(Dialect::chat, request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.line(), "tare: parameters of the tool 'exec': not JSON (it ends early, after 1 bytes)");
  }
}

}  // namespace
}  // namespace tare::provider
