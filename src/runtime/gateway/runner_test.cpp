#include "runtime/gateway/runner.hpp"

#include "runtime/gateway/world_for_tests.hpp"

namespace tare::gateway {
namespace {

using provider::Done;
using provider::Events;
using provider::Hang;
using provider::TextDelta;
using provider::Usage;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

using RunnerTest = GatewayTest;

TEST_F(RunnerTest, a_turn_tells_its_events_in_the_order_of_the_protocol) {
  provider.reply({Events{TextDelta{"Hel"}, TextDelta{"lo"}}, Events{TextDelta{" you"}},
                  Events{Usage{10, 3, 13, {}}, Done{}}});
  TestClient watcher(hub);
  hub.watch_sessions(*watcher.client);
  methods.handle(watcher.client, {"a", "agent", turn("s", "hi", "k")});
  methods.handle(watcher.client, {"w", "agent.wait", json::Object{{"runId", "k"}, {"timeoutMs", 60'000}}});
  run();
  EXPECT_THAT(watcher.story(),
              ElementsAre("res a accepted", "sessions.changed send", "task running",
                          "sessions.changed agent.run.started", "agent start", "session.message user",
                          "agent assistant", "chat delta", "agent assistant", "chat delta", "agent usage",
                          "session.message assistant", "agent end", "chat final", "res w ok",
                          "task completed", "res a ok", "sessions.changed agent.input.settled"));
  EXPECT_EQ(watcher.events("chat")[0].at("deltaText"), "Hello");
  EXPECT_EQ(watcher.events("chat")[1].at("deltaText"), " you");
  EXPECT_EQ(watcher.events("agent")[2].at("data").at("text"), "Hello you");
  EXPECT_EQ(watcher.response("w").at("payload").at("terminalReply").at("text"), "Hello you");
  EXPECT_EQ(watcher.events("sessions.changed").back().at("session").at("totalTokens"), 13);
}

TEST_F(RunnerTest, each_event_has_the_next_number_of_its_connection) {
  TestClient watcher(hub);
  hub.watch_sessions(*watcher.client);
  methods.handle(watcher.client, {"a", "agent", turn("s", "hi", "k")});
  run();
  std::int64_t seq = 0;
  for (const json::Value& frame : watcher.frames) {
    if (frame.at("type") != "event") continue;
    EXPECT_EQ(frame.at("seq").as_int64(), ++seq);
  }
  EXPECT_GT(seq, 8);
}

TEST_F(RunnerTest, nothing_is_accepted_that_is_not_on_disk) {
  store.is_full = true;
  TestClient client(hub);
  const json::Value response = call(client, "agent", turn("s", "hi", "k"));
  EXPECT_EQ(code_of(response), "UNAVAILABLE");
  EXPECT_EQ(response.at("error").at("retryable"), true);
  EXPECT_THAT(std::string(response.at("error").at("message").as_string()), HasSubstr("the disk is full"));
  EXPECT_EQ(sessions.size(), 0u);
  // The same key may try again.
  store.is_full = false;
  EXPECT_EQ(call(client, "agent", turn("s", "hi", "k"), "2").at("payload").at("status"), "accepted");
  EXPECT_EQ(client.response("2", 1).at("payload").at("status"), "ok");
}

TEST_F(RunnerTest, a_reply_that_cannot_be_stored_is_told_to_nobody_as_said) {
  provider.reply({Events{TextDelta{"x"}}, Hang{}});
  TestClient client(hub);
  call(client, "agent", turn("s", "hi", "k"));
  store.is_full = true;
  runner.abort_run("k");
  run();
  EXPECT_EQ(code_of(client.response("1", 1)), "UNAVAILABLE");
  EXPECT_EQ(client.events("chat").back().at("state"), "error");
  store.is_full = false;
  EXPECT_EQ(call(client, "agent", turn("s", "again", "k2"), "2").at("payload").at("status"), "accepted");
  EXPECT_EQ(client.response("2", 1).at("payload").at("status"), "ok");
}

TEST_F(RunnerTest, one_key_is_one_run) {
  provider.reply({Events{TextDelta{"x"}}, Hang{}});
  TestClient client(hub);
  methods.handle(client.client, {"1", "agent", turn("s", "hi", "k")});
  methods.handle(client.client, {"2", "agent", turn("s", "hi", "k")});  // before the first is on disk
  run();
  methods.handle(client.client, {"3", "agent", turn("s", "hi", "k")});
  run();
  EXPECT_EQ(client.response("1").at("payload").at("status"), "accepted");
  EXPECT_EQ(client.response("2").at("payload").at("status"), "in_flight");
  EXPECT_EQ(client.response("3").at("payload").at("status"), "in_flight");
  runner.abort_run("k");
  run();
  EXPECT_EQ(provider.requests().size(), 1u);
  const json::Value cached = call(client, "agent", turn("s", "hi", "k"), "4");
  EXPECT_EQ(cached.at("payload"), client.response("1", 1).at("payload"));
}

TEST_F(RunnerTest, a_cached_result_outlives_its_text_in_memory) {
  TestClient client(hub);
  for (const char* key : {"k1", "k2", "k3", "k4"}) {
    provider.reply({Events{TextDelta{std::string("reply to ") + key}, Done{}}});
    call(client, "agent", turn("s", "hi", key), key);
  }
  const json::Value cached = call(client, "agent", turn("s", "hi", "k1"), "again");
  EXPECT_EQ(cached.at("payload").at("result").at("payloads").at(0).at("text"), "reply to k1");
}

TEST_F(RunnerTest, runs_of_a_session_take_turns_and_those_of_others_do_not_wait) {
  for (int i = 0; i < 3; ++i) provider.reply({Hang{}});
  TestClient client(hub);
  call(client, "agent", turn("s", "first", "k1"), "1");
  call(client, "agent", turn("s", "second", "k2"), "2");
  call(client, "agent", turn("other", "third", "k3"), "3");
  EXPECT_EQ(provider.requests().size(), 2u);
  EXPECT_EQ(runner.facts().running, 2u);
  EXPECT_EQ(runner.facts().queued, 1u);
  const json::Value history = call(client, "chat.history", json::Object{{"sessionKey", "s"}}, "h");
  EXPECT_EQ(history.at("payload").at("messages").as_array().size(), 1u);
  EXPECT_EQ(history.at("payload").at("pendingInputs").at("items").at(0).at("text"), "second");
  runner.abort_run("k1");
  run();
  EXPECT_EQ(provider.requests().size(), 3u);
  EXPECT_EQ(std::get<provider::UserMessage>(provider.requests().back().items.back()).text, "second");
}

TEST_F(RunnerTest, no_more_run_at_once_than_may_and_the_longest_waiting_is_next) {
  for (int i = 0; i < 4; ++i) provider.reply({Hang{}});
  TestClient client(hub);
  for (const char* key : {"a", "b", "c", "d"}) call(client, "agent", turn(key, "hi", key), key);
  EXPECT_EQ(provider.requests().size(), 2u);
  runner.abort_run("a");
  run();
  EXPECT_EQ(provider.requests().size(), 3u);
  EXPECT_EQ(sessions.find("c")->active->record.key, "c");
  EXPECT_EQ(sessions.find("d")->active, nullptr);
}

TEST_F(RunnerTest, a_session_has_a_limit_of_waiting_runs) {
  provider.reply({Hang{}});
  TestClient client(hub);
  for (const char* key : {"1", "2", "3", "4"}) call(client, "agent", turn("s", "hi", key), key);
  const json::Value refused = call(client, "agent", turn("s", "hi", "5"), "5");
  EXPECT_EQ(code_of(refused), "UNAVAILABLE");
  EXPECT_EQ(refused.at("error").at("retryable"), true);
}

TEST_F(RunnerTest, an_abort_keeps_what_there_is_and_frees_the_session) {
  provider.reply({Events{TextDelta{"half"}}, Hang{}});
  TestClient client(hub);
  call(client, "agent", turn("s", "hi", "k"), "1");
  EXPECT_EQ(call(client, "agent.abort", json::Object{{"runId", "k"}}, "2").at("payload").at("aborted"), true);
  EXPECT_EQ(client.events("chat").back().at("state"), "aborted");
  EXPECT_EQ(call(client, "agent.wait", json::Object{{"runId", "k"}}, "3").at("payload").at("stopReason"),
            "aborted");
  const json::Value history = call(client, "chat.history", json::Object{{"sessionKey", "s"}}, "4");
  EXPECT_EQ(history.at("payload").at("messages").at(1).at("content").at(0).at("text"), "half");
  EXPECT_EQ(history.at("payload").at("messages").at(1).at("stopReason"), "aborted");
  EXPECT_EQ(call(client, "agent.abort", json::Object{{"runId", "k"}}, "5").at("payload").at("aborted"),
            false);
  EXPECT_FALSE(sessions.find("s")->is_busy());
}

TEST_F(RunnerTest, all_runs_of_a_session_are_aborted_waiting_ones_too) {
  provider.reply({Hang{}});
  TestClient client(hub);
  call(client, "agent", turn("s", "one", "k1"), "1");
  call(client, "agent", turn("s", "two", "k2"), "2");
  EXPECT_EQ(call(client, "chat.abort", json::Object{{"sessionKey", "s"}}, "3").at("payload").at("aborted"),
            true);
  EXPECT_EQ(provider.requests().size(), 1u);
  EXPECT_EQ(runner.facts().aborted, 2u);
  // What the user said is in the transcript, though nobody answered.
  const json::Value history = call(client, "chat.history", json::Object{{"sessionKey", "s"}}, "4");
  EXPECT_EQ(history.at("payload").at("messages").as_array().size(), 2u);
}

TEST_F(RunnerTest, a_provider_that_fails_ends_the_turn_and_not_the_session) {
  provider.reply(
      {Events{TextDelta{"par"}}, provider::Failure(provider::FailureKind::cut, "the stream ended early")});
  TestClient client(hub);
  call(client, "agent", turn("s", "hi", "k"), "1");
  EXPECT_EQ(code_of(client.response("1", 1)), "UNAVAILABLE");
  EXPECT_EQ(client.events("chat").back().at("state"), "error");
  EXPECT_EQ(client.events("chat").back().at("errorMessage"), "the stream ended early");
  EXPECT_EQ(client.events("agent").back().at("data").at("phase"), "error");
  EXPECT_EQ(client.events("task").back().at("task").at("status"), "failed");
  EXPECT_EQ(call(client, "agent.wait", json::Object{{"runId", "k"}}, "w").at("payload").at("status"),
            "error");
  call(client, "agent", turn("s", "again", "k2"), "2");
  EXPECT_EQ(client.response("2", 1).at("payload").at("status"), "ok");
}

TEST_F(RunnerTest, a_provider_that_is_too_late_is_told_apart) {
  provider.reply({provider::Failure(provider::FailureKind::timeout, "no byte came")});
  TestClient client(hub);
  call(client, "agent", turn("s", "hi", "k"), "1");
  EXPECT_EQ(code_of(client.response("1", 1)), "AGENT_TIMEOUT");
}

TEST_F(RunnerTest, the_model_is_told_the_conversation) {
  TestClient client(hub);
  provider.reply({Events{TextDelta{"one"}, Done{}}});
  call(client, "agent", turn("s", "first", "k1"), "1");
  call(client, "agent", turn("s", "second", "k2"), "2");
  const auto& items = provider.requests().back().items;
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(std::get<provider::UserMessage>(items[0]).text, "first");
  EXPECT_EQ(std::get<provider::AssistantMessage>(items[1]).text, "one");
  EXPECT_EQ(std::get<provider::UserMessage>(items[2]).text, "second");
}

TEST_F(RunnerTest, a_wait_for_a_run_that_is_not_there_yet_is_answered_when_it_ends) {
  TestClient client(hub);
  methods.handle(client.client, {"w", "agent.wait", json::Object{{"runId", "k"}, {"timeoutMs", 60'000}}});
  run();
  EXPECT_EQ(client.responses("w"), 0u);
  call(client, "agent", turn("s", "hi", "k"), "1");
  EXPECT_EQ(client.response("w").at("payload").at("status"), "ok");
  EXPECT_EQ(client.client->waits.size(), 0u);
}

TEST_F(RunnerTest, a_wait_of_no_time_says_so_at_once) {
  TestClient client(hub);
  const json::Value response = call(client, "agent.wait", json::Object{{"runId", "k"}, {"timeoutMs", 0}});
  EXPECT_EQ(response.at("payload"), json::parse(R"({"runId":"k","status":"timeout"})", "p"));
}

TEST_F(RunnerTest, a_connection_has_a_limit_of_waits) {
  TestClient client(hub);
  const json::Object params{{"runId", "k"}, {"timeoutMs", 60'000}};
  for (const char* id : {"1", "2", "3", "4"}) call(client, "agent.wait", params, id);
  EXPECT_EQ(code_of(call(client, "agent.wait", params, "5")), "UNAVAILABLE");
}

TEST_F(RunnerTest, what_had_not_ended_is_marked_and_its_message_kept) {
  SessionRecord session;
  session.id = 7;
  session.key = "s";
  sessions.restore({session}, 7);
  RunRecord started{3, "k1", 7, "", 1000, 1001, {}, Outcome::ok, "", 0, 0, 0};
  RunRecord waiting{4, "k2", 7, "what I said", 1002, {}, {}, Outcome::ok, "", 0, 0, 0};
  const auto changes = runner.restore({started, waiting}, 4);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(std::get<EndRun>(changes[0]).run.outcome, Outcome::interrupted);
  EXPECT_EQ(std::get<AddMessage>(changes[1]).message.text, "what I said");
  EXPECT_EQ(std::get<EndRun>(changes[2]).run.key, "k2");
  TestClient client(hub);
  EXPECT_EQ(call(client, "agent.wait", json::Object{{"runId", "k1"}}, "w").at("payload").at("stopReason"),
            "interrupted");
  EXPECT_EQ(code_of(call(client, "agent", turn("s", "x", "k1"), "a")), "UNAVAILABLE");
  EXPECT_EQ(sessions.find("s")->last_outcome, Outcome::interrupted);
}

TEST_F(RunnerTest, while_draining_nothing_new_is_taken_and_what_runs_may_end) {
  provider.reply({Hang{}});
  TestClient client(hub);
  call(client, "agent", turn("s", "hi", "k"), "1");
  bool is_over = false;
  runner.drain([&] { is_over = true; });
  const json::Value refused = call(client, "agent", turn("s2", "hi", "k2"), "2");
  EXPECT_EQ(refused.at("error").at("details").at("reason"), "shutting-down");
  EXPECT_FALSE(is_over);
  runner.abort_run("k");
  run();
  EXPECT_TRUE(is_over);
}

TEST_F(RunnerTest, long_replies_are_told_in_parts_that_are_worth_it) {
  provider::Script script;
  for (int i = 0; i < 2000; ++i) script.emplace_back(Events{TextDelta{"0123456789"}});
  script.emplace_back(Events{Done{}});
  provider.reply(script);
  TestClient client(hub);
  call(client, "agent", turn("s", "hi", "k"), "1");
  std::string told;
  const auto chats = client.events("chat");
  for (std::size_t i = 0; i + 1 < chats.size(); ++i)
    told += std::string_view(chats[i].at("deltaText").as_string());
  EXPECT_EQ(told.size(), 20'000u);
  EXPECT_EQ(chats.back().at("message").at("content").at(0).at("text").as_string().size(), 20'000u);
  EXPECT_LT(chats.size(), 600u);
}

TEST_F(RunnerTest, tasks_are_the_latest_runs) {
  TestClient client(hub);
  for (const char* key : {"k1", "k2"}) call(client, "agent", turn("s", "hi", key), key);
  const json::Value tasks = call(client, "tasks.list", json::Object{}, "t").at("payload").at("tasks");
  ASSERT_EQ(tasks.as_array().size(), 2u);
  EXPECT_EQ(tasks.at(0).at("runId"), "k2");
  EXPECT_EQ(tasks.at(0).at("status"), "completed");
}

TEST_F(RunnerTest, who_is_gone_waits_no_longer) {
  TestClient client(hub);
  for (const char* key : {"unknown", "k"}) {
    const json::Object params{{"runId", key}, {"timeoutMs", 86'400'000}};
    methods.handle(client.client, {key, "agent.wait", params});
  }
  EXPECT_EQ(client.client->waits.size(), 2u);
  const std::weak_ptr<Wait> wait = client.client->waits.begin()->second;
  methods.leave(*client.client);
  EXPECT_TRUE(client.client->waits.empty());
  EXPECT_TRUE(wait.expired());
  call(client, "agent", turn("s", "hi", "k"), "1");
  EXPECT_EQ(client.responses("k"), 0u);
}

TEST_F(RunnerTest, what_a_server_claims_to_have_used_breaks_no_session) {
  TestClient client(hub);
  for (const char* key : {"k1", "k2", "k3"}) {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    provider.reply({Events{TextDelta{"yes"}}, Events{Usage{most, most / 2, {}, {}}, Done{}}});
    EXPECT_EQ(call(client, "agent", turn("s", "hi", key), key).at("ok"), true);
    EXPECT_EQ(client.response(key, 1).at("ok"), true) << key;
  }
  EXPECT_GT(sessions.find("s")->record.input_tokens, 0);
}

TEST_F(RunnerTest, a_very_long_reply_that_comes_at_once_is_told_in_few_parts) {
  provider::Script script;
  const std::string part(4096, 'x');
  for (int i = 0; i < 512; ++i) script.emplace_back(Events{TextDelta{part}});
  script.emplace_back(Events{Done{}});
  provider.reply(script);
  TestClient client(hub);
  call(client, "agent", turn("s", "hi", "k"), "1");
  std::size_t bytes = 0;
  for (const json::Value& chat : client.events("chat")) bytes += json::line(chat).size();
  EXPECT_LT(bytes, 5 * 512 * part.size());
}

TEST_F(RunnerTest, a_run_ends_after_it_began_whatever_the_calendar_does) {
  TestClient client(hub);
  provider.reply({Hang{}});
  call(client, "agent", turn("s", "hi", "k"), "1");
  clock.jump(-std::chrono::hours(1));
  clock.advance(std::chrono::milliseconds(30));
  methods.handle(client.client, {"a", "agent.abort", json::Object{{"runId", "k"}}});
  run();
  const json::Value waited = call(client, "agent.wait", json::Object{{"runId", "k"}}, "w").at("payload");
  EXPECT_EQ(waited.at("endedAt").as_int64() - waited.at("startedAt").as_int64(), 30);
}

TEST_F(RunnerTest, a_reply_without_end_is_ended) {
  provider::Script script;
  for (int i = 0; i < 1000; ++i) script.emplace_back(Events{TextDelta{std::string(4096, 'x')}});
  provider.reply(script);
  TestClient client(hub);
  call(client, "agent", turn("s", "hi", "k"), "1");
  EXPECT_THAT(std::string(client.response("1", 1).at("error").at("message").as_string()),
              HasSubstr("the text of the reply is larger than 3.0 MB"));
  EXPECT_EQ(call(client, "agent", turn("s", "on", "k2"), "2").at("ok"), true);
  EXPECT_EQ(client.response("2", 1).at("ok"), true);
}

TEST_F(RunnerTest, texts_that_wait_have_a_limit_over_all_sessions) {
  TestClient client(hub);
  const std::string text(40'000, 'x');
  for (const char* key : {"a", "b"}) {
    provider.reply({Hang{}});
    call(client, "agent", turn(key, "hi", key), key);
  }
  for (const char* key : {"c", "d"})
    EXPECT_EQ(code_of(call(client, "agent", turn(key, text, key), key)), "ok");
  EXPECT_EQ(code_of(call(client, "agent", turn("e", text, "e"), "e")), "UNAVAILABLE");
  for (const char* key : {"a", "c", "d"}) call(client, "agent.abort", json::Object{{"runId", key}}, "stop");
  EXPECT_EQ(code_of(call(client, "agent", turn("e", text, "e"), "e2")), "ok");
}

}  // namespace
}  // namespace tare::gateway
