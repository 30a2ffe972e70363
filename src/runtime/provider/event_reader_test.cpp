#include "runtime/provider/event_reader.hpp"

#include <initializer_list>

#include <gmock/gmock.h>

#include "runtime/provider/failure.hpp"

namespace tare::provider {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Events read_all(Dialect dialect, std::initializer_list<std::string_view> data) {
  const auto reader = event_reader(dialect);
  for (const std::string_view event : data) reader->feed(event);
  reader->end();
  return reader->take();
}

/// The failure that these events end in.
Failure failure_of(Dialect dialect, std::initializer_list<std::string_view> data) {
  try {
    read_all(dialect, data);
  } catch (const Failure& failure) {
    return failure;
  }
  ADD_FAILURE() << "the reply did not fail";
  return Failure(FailureKind::garbage, "");
}

TEST(ResponsesReader, gives_text_usage_and_the_end) {
  EXPECT_THAT(
      read_all(Dialect::responses,
               {R"({"type":"response.created","response":{"id":"r1"}})",
                R"({"type":"response.output_item.added","output_index":0,"item":{"type":"message"}})",
                R"({"type":"response.output_text.delta","output_index":0,"delta":"Hel"})",
                R"({"type":"response.output_text.delta","output_index":0,"delta":""})",
                R"({"type":"response.output_text.delta","output_index":0,"delta":"lo"})",
                R"({"type":"response.output_text.done","output_index":0,"text":"Hello"})",
                R"({"type":"response.output_item.done","output_index":0,"item":{"type":"message"}})",
                R"({"type":"response.completed","response":{"usage":{"input_tokens":7,"output_tokens":2,
                    "total_tokens":9,"input_tokens_details":{"cached_tokens":4}}}})",
                "[DONE]"}),
      ElementsAre(TextDelta{"Hel"}, TextDelta{"lo"}, Usage{7, 2, 9, 4}, Done{StopReason::stop}));
}

TEST(ResponsesReader, a_text_without_deltas_is_not_lost) {
  EXPECT_THAT(
      read_all(Dialect::responses, {R"({"type":"response.output_text.done","output_index":0,"text":"Hi"})",
                                    R"({"type":"response.completed","response":{}})"}),
      ElementsAre(TextDelta{"Hi"}, Done{StopReason::stop}));
}

TEST(ResponsesReader, gives_a_call_when_it_is_whole) {
  EXPECT_THAT(
      read_all(Dialect::responses,
               {R"({"type":"response.output_item.added","output_index":0,"item":{"type":"function_call"}})",
                R"({"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":"})",
                R"({"type":"response.function_call_arguments.delta","output_index":0,"delta":"1}"})",
                R"({"type":"response.output_item.done","output_index":0,"item":{"type":"function_call",
                    "call_id":"c1","name":"exec","arguments":"{\"a\":1}"}})",
                R"({"type":"response.completed","response":{}})"}),
      ElementsAre(ToolCall{"c1", "exec", R"({"a":1})"}, Done{StopReason::tool_calls}));
}

TEST(ResponsesReader, a_reply_that_hit_a_limit_says_so) {
  EXPECT_THAT(read_all(Dialect::responses, {R"({"type":"response.incomplete","response":
                {"incomplete_details":{"reason":"max_output_tokens"}}})"}),
              ElementsAre(Done{StopReason::length}));
  EXPECT_THAT(read_all(Dialect::responses, {R"({"type":"response.incomplete","response":
                {"incomplete_details":{"reason":"content_filter"}}})"}),
              ElementsAre(Done{StopReason::filtered}));
}

TEST(ResponsesReader, an_error_in_the_stream_is_the_servers_message) {
  const Failure failed = failure_of(
      Dialect::responses,
      {R"({"type":"response.failed","response":{"error":{"code":"server_error","message":"out of\nmemory"}}})"});
  EXPECT_EQ(failed.kind(), FailureKind::reported);
  EXPECT_THAT(failed.line(), HasSubstr("the model server reported an error (out of\\nmemory)"));
  EXPECT_EQ(failure_of(Dialect::responses, {R"({"type":"error","message":"no"})"}).why(), "no");
  EXPECT_EQ(failure_of(Dialect::responses, {R"({"error":{"message":"no"}})"}).why(), "no");
}

TEST(ResponsesReader, without_its_last_event_a_reply_is_cut) {
  const std::string_view delta = R"({"type":"response.output_text.delta","output_index":0,"delta":"Hel"})";
  EXPECT_EQ(failure_of(Dialect::responses, {delta}).kind(), FailureKind::cut);
  EXPECT_EQ(failure_of(Dialect::responses, {delta, "[DONE]"}).kind(), FailureKind::cut);
}

TEST(ChatReader, gives_text_usage_and_the_end) {
  EXPECT_THAT(
      read_all(
          Dialect::chat,
          {R"({"choices":[{"delta":{"role":"assistant","content":""}}]})",
           R"({"choices":[{"delta":{"content":"Hel"}}],"usage":null})",
           R"({"choices":[{"delta":{"content":"lo"}}]})",
           R"({"choices":[{"delta":{},"finish_reason":"stop"}]})",
           R"({"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}})", "[DONE]"}),
      ElementsAre(TextDelta{"Hel"}, TextDelta{"lo"}, Usage{7, 2, 9, {}}, Done{StopReason::stop}));
}

TEST(ChatReader, joins_the_pieces_of_each_call) {
  EXPECT_THAT(
      read_all(Dialect::chat,
               {R"({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function",
                    "function":{"name":"exec","arguments":""}}]}}]})",
                R"({"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c2",
                    "function":{"name":"read","arguments":"{}"}}]}}]})",
                R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}}]})",
                R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]})",
                R"({"choices":[{"delta":{},"finish_reason":"tool_calls"}]})", "[DONE]"}),
      ElementsAre(ToolCall{"c1", "exec", R"({"a":1})"}, ToolCall{"c2", "read", "{}"},
                  Done{StopReason::tool_calls}));
}

TEST(ChatReader, a_stream_may_end_without_the_word_done_but_not_without_a_reason) {
  EXPECT_THAT(
      read_all(Dialect::chat, {R"({"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]})"}),
      ElementsAre(TextDelta{"a"}, Done{StopReason::length}));
  EXPECT_EQ(failure_of(Dialect::chat, {R"({"choices":[{"delta":{"content":"a"}}]})"}).kind(),
            FailureKind::cut);
  EXPECT_EQ(failure_of(Dialect::chat, {"[DONE]"}).kind(), FailureKind::cut);
}

TEST(ChatReader, an_error_in_the_stream_is_the_servers_message) {
  EXPECT_EQ(failure_of(Dialect::chat, {R"({"error":{"message":"overloaded"}})"}).why(), "overloaded");
  EXPECT_EQ(failure_of(Dialect::chat, {R"({"error":{}})"}).why(), "it does not say why");
}

TEST(EventReader, what_is_not_json_is_garbage) {
  for (const Dialect dialect : {Dialect::responses, Dialect::chat}) {
    for (const std::string_view data : {"", "{", "<html>", "{\"a\":\"\xff\"}", "{\"a\":\"\xc3\"}"}) {
      EXPECT_EQ(failure_of(dialect, {data}).kind(), FailureKind::garbage) << data;
    }
  }
}

TEST(EventReader, json_of_any_other_shape_is_skipped) {
  for (const Dialect dialect : {Dialect::responses, Dialect::chat}) {
    const auto reader = event_reader(dialect);
    for (const std::string_view data :
         {"1", "[]", "null", "{}", R"({"type":7})", R"({"type":"response.of.tomorrow"})", R"({"choices":{}})",
          R"({"choices":[1]})", R"({"choices":[{"delta":{"content":1,"tool_calls":1}}]})", R"({"usage":[]})",
          R"({"type":"response.output_text.delta","delta":{}})", R"({"error":null})"}) {
      EXPECT_NO_THROW(reader->feed(data)) << data;
    }
    EXPECT_TRUE(reader->take().empty());
    EXPECT_FALSE(reader->done());
  }
}

TEST(EventReader, a_call_without_a_name_is_garbage) {
  EXPECT_EQ(
      failure_of(Dialect::responses,
                 {R"({"type":"response.output_item.done","item":{"type":"function_call","call_id":"c"}})"})
          .kind(),
      FailureKind::garbage);
  EXPECT_EQ(failure_of(Dialect::chat, {R"({"choices":[{"delta":{"tool_calls":[{"index":0}]},
                                           "finish_reason":"tool_calls"}]})"})
                .kind(),
            FailureKind::garbage);
}

TEST(EventReader, nothing_comes_behind_the_end) {
  const auto reader = event_reader(Dialect::responses);
  reader->feed(R"({"type":"response.completed","response":{}})");
  reader->feed(R"({"type":"response.output_text.delta","delta":"more"})");
  reader->feed("not JSON");
  EXPECT_THAT(reader->take(), ElementsAre(Done{StopReason::stop}));
}

}  // namespace
}  // namespace tare::provider
