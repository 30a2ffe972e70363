#include <gmock/gmock.h>

#include "base/json.hpp"
#include "net/sse.hpp"
#include "runtime/provider/event_reader.hpp"
#include "runtime/provider/render.hpp"

namespace tare::provider {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

MockRequest request_with(std::string text, std::vector<std::string> tools = {}) {
  return {.model = "m", .user_text = std::move(text), .tools = std::move(tools), .bytes = 41};
}

ReplyPlan plan_of(const MockRequest& request) {
  return plan_reply(request, parse_directives(request.user_text), {}, 7, WallTime{});
}

TEST(ReplyPlan, a_marker_is_echoed_and_every_chunk_is_known) {
  const ReplyPlan plan = plan_of(request_with("Say [[marker:s-1]] [[chunks:3]] [[delay:2]]"));
  EXPECT_THAT(plan.chunks, ElementsAre("s-1", " 2", " 3"));
  EXPECT_EQ(plan.delay, std::chrono::milliseconds(2));
  EXPECT_EQ(plan.usage, (Usage{11, 3, 14, 0}));
}

TEST(ReplyPlan, without_directives_the_defaults_hold) {
  const ReplyPlan plan = plan_reply(request_with("Hi"), {}, {.text = "ok", .chunks = 2}, 1, WallTime{});
  EXPECT_THAT(plan.chunks, ElementsAre("ok", " 2"));
  EXPECT_EQ(plan.delay, Nanoseconds(0));
}

TEST(ReplyPlan, a_tool_is_called_when_it_is_offered_and_has_not_been_called) {
  const std::string text = R"([[marker:x]][[chunks:1]][[tool:exec {"command":"date"}]])";
  const ReplyPlan first = plan_of(request_with(text, {"read", "exec"}));
  EXPECT_THAT(first.calls, ElementsAre(ToolCall{"call_7_1", "exec", R"({"command":"date"})"}));
  EXPECT_THAT(first.chunks, ElementsAre("Calling exec."));

  MockRequest second = request_with(text, {"read", "exec"});
  second.after_tools = true;
  EXPECT_THAT(plan_of(second).calls, IsEmpty());
  EXPECT_THAT(plan_of(second).chunks, ElementsAre("x"));

  EXPECT_THAT(plan_of(request_with(text)).calls, IsEmpty()) << "a recap quotes the text but offers no tools";
}

TEST(ReplyPlan, subagents_are_spawned_each_with_its_marker_and_spawn_none_themselves) {
  const ReplyPlan plan = plan_of(request_with("[[marker:p]][[subagents:2]]", {"sessions_spawn"}));
  ASSERT_EQ(plan.calls.size(), 2U);
  EXPECT_EQ(plan.calls[0].arguments, R"({"task":"Reply with [[marker:p.1]]","label":"p.1"})");
  EXPECT_EQ(plan.calls[1].arguments, R"({"task":"Reply with [[marker:p.2]]","label":"p.2"})");

  const ReplyPlan child =
      plan_of(request_with("[Subagent Task] [[subagents:2]] [[marker:p.1]]", {"sessions_spawn"}));
  EXPECT_THAT(child.calls, IsEmpty());
  EXPECT_EQ(child.chunks.front(), "p.1");
}

/// What the client makes of a streamed reply of the mock.
Events read_back(Dialect dialect, const ReplyPlan& plan) {
  const auto render = renderer(dialect, plan);
  std::string stream = render->begin();
  for (const std::string& chunk : plan.chunks) stream += render->delta(chunk, {});
  stream += render->end();
  const auto reader = event_reader(dialect);
  net::SseParser parser;
  parser.feed(stream, [&](const net::ServerEvent& event) { reader->feed(event.data); });
  reader->end();
  return reader->take();
}

class Renderers : public testing::TestWithParam<Dialect> {};
INSTANTIATE_TEST_SUITE_P(Both, Renderers, testing::Values(Dialect::responses, Dialect::chat));

TEST_P(Renderers, what_is_written_is_what_the_client_reads) {
  const ReplyPlan plan = plan_of(request_with("[[marker:é \"quoted\"]][[chunks:3]]"));
  Usage usage = plan.usage;
  if (GetParam() == Dialect::chat) usage.cached_tokens.reset();
  EXPECT_THAT(read_back(GetParam(), plan), ElementsAre(TextDelta{"é \"quoted\""}, TextDelta{" 2"},
                                                       TextDelta{" 3"}, usage, Done{StopReason::stop}));
}

TEST_P(Renderers, calls_come_behind_the_commentary) {
  const ReplyPlan plan =
      plan_of(request_with(R"([[tool:exec {"a":"\"]]"}]][[tool:read]])", {"exec", "read"}));
  Events events = read_back(GetParam(), plan);
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0], Event(TextDelta{"Calling exec."}));
  EXPECT_EQ(events[1], Event(ToolCall{"call_7_1", "exec", R"({"a":"\"]]"})"}));
  EXPECT_EQ(events[2], Event(ToolCall{"call_7_2", "read", "{}"}));
  EXPECT_EQ(events[4], Event(Done{StopReason::tool_calls}));
}

TEST_P(Renderers, a_stamp_is_a_field_of_the_event_and_not_of_the_text) {
  const ReplyPlan plan = plan_of(request_with("[[marker:x]]"));
  const auto render = renderer(GetParam(), plan);
  const std::string stamped = render->delta("x", Instant(Nanoseconds(123)));
  EXPECT_THAT(stamped, HasSubstr(R"("sentNs":123)"));
  EXPECT_THAT(render->delta("x", {}), Not(HasSubstr("sentNs")));
  const auto reader = event_reader(GetParam());
  net::SseParser().feed(stamped, [&](const net::ServerEvent& event) { reader->feed(event.data); });
  EXPECT_THAT(reader->take(), ElementsAre(TextDelta{"x"}));
}

TEST_P(Renderers, whole_is_one_json_text_with_the_same_reply) {
  const ReplyPlan plan = plan_of(request_with(R"([[tool:exec {"a":1}]][[tool:read]])", {"exec", "read"}));
  const json::Value whole = json::parse(renderer(GetParam(), plan)->whole(), "the reply");
  if (GetParam() == Dialect::responses) {
    EXPECT_EQ(whole.at("output").at(0).at("content").at(0).at("text").as_string(), "Calling exec.");
    EXPECT_EQ(whole.at("output").at(2).at("name").as_string(), "read");
  } else {
    const json::Value& message = whole.at("choices").at(0).at("message");
    EXPECT_EQ(message.at("content").as_string(), "Calling exec.");
    EXPECT_EQ(message.at("tool_calls").at(1).at("function").at("name").as_string(), "read");
  }
}

TEST_P(Renderers, an_error_event_is_read_as_one) {
  const auto reader = event_reader(GetParam());
  net::SseParser().feed(error_event(GetParam(), "no"), [&](const net::ServerEvent& event) {
    EXPECT_THROW(reader->feed(event.data), Error);
  });
}

TEST(Responses, commentary_is_marked_as_such_only_when_calls_follow) {
  const ReplyPlan calls = plan_of(request_with("[[tool:exec]]", {"exec"}));
  const ReplyPlan plain = plan_of(request_with("Hi"));
  EXPECT_THAT(renderer(Dialect::responses, calls)->begin(), HasSubstr(R"("phase":"commentary")"));
  EXPECT_THAT(renderer(Dialect::responses, plain)->begin(), Not(HasSubstr("phase")));
}

}  // namespace
}  // namespace tare::provider
