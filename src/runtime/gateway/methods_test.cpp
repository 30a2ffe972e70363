#include "runtime/gateway/methods.hpp"

#include "runtime/gateway/world_for_tests.hpp"

namespace tare::gateway {
namespace {

using provider::Hang;
using testing::HasSubstr;

class MethodsTest : public GatewayTest {
 protected:
  TestClient client{hub};
  json::Value ask(std::string method, json::Object params = {}) {
    const std::string id = std::to_string(++asked_);
    return call(client, std::move(method), std::move(params), id);
  }
  json::Value payload(std::string method, json::Object params = {}) {
    const json::Value response = ask(std::move(method), std::move(params));
    EXPECT_TRUE(response.at("ok").as_bool()) << json::line(response);
    return response.at("payload");
  }
  std::vector<std::string> keys(const json::Value& list) const {
    std::vector<std::string> found;
    for (const json::Value& row : list.at("sessions").as_array())
      found.emplace_back(row.at("key").as_string());
    return found;
  }
  void create(std::string_view key) {
    clock.advance(std::chrono::seconds(1));
    payload("sessions.create", {{"key", key}, {"agentId", "main"}});
  }

 private:
  int asked_ = 0;
};

TEST_F(MethodsTest, an_unknown_method_is_refused) {
  const json::Value response = ask("sessions.teleport");
  EXPECT_EQ(code_of(response), "INVALID_REQUEST");
  EXPECT_EQ(response.at("error").at("message"), "unknown method: sessions.teleport");
}

TEST_F(MethodsTest, schemas_are_closed) {
  EXPECT_EQ(ask("sessions.list", {{"bogus", 1}}).at("error").at("message"),
            "invalid sessions.list params: at root: unexpected property 'bogus'");
  EXPECT_EQ(code_of(ask("chat.inject", {{"sessionKey", "s"}})), "INVALID_REQUEST");
}

TEST_F(MethodsTest, a_missing_scope_is_named) {
  TestClient reader(hub, {Scope::read});
  const json::Value response = call(reader, "sessions.patch", json::Object{{"key", "s"}});
  EXPECT_EQ(code_of(response), "FORBIDDEN");
  EXPECT_EQ(
      response.at("error").at("details"),
      json::parse(
          R"({"code":"MISSING_SCOPE","missingScope":"operator.admin","requiredScopes":["operator.admin"]})",
          "d"));
  EXPECT_EQ(code_of(call(reader, "agent", turn("s", "hi", "k"), "2")), "FORBIDDEN");
  EXPECT_EQ(code_of(call(reader, "sessions.list", json::Object{}, "3")), "ok");
}

TEST_F(MethodsTest, without_the_read_scope_no_events_come) {
  TestClient nobody(hub, {});
  payload("agent", turn("s", "hi", "k"));
  EXPECT_TRUE(nobody.frames.empty());
}

TEST_F(MethodsTest, sessions_are_listed_by_when_they_were_updated) {
  for (const char* key : {"a", "b", "c"}) create(key);
  EXPECT_THAT(keys(payload("sessions.list")), testing::ElementsAre("c", "b", "a"));
  clock.advance(std::chrono::seconds(1));
  payload("sessions.patch", {{"key", "a"}, {"label", "first"}});
  const json::Value list = payload("sessions.list", {{"limit", 2}});
  EXPECT_THAT(keys(list), testing::ElementsAre("a", "c"));
  EXPECT_EQ(list.at("sessions").at(0).at("label"), "first");
  EXPECT_EQ(list.at("totalCount"), 3);
  EXPECT_EQ(list.at("hasMore"), true);
  EXPECT_EQ(list.at("nextOffset"), 2);
  const json::Value rest = payload("sessions.list", {{"limit", 2}, {"offset", 2}});
  EXPECT_THAT(keys(rest), testing::ElementsAre("b"));
  EXPECT_TRUE(rest.at("nextOffset").is_null());
}

TEST_F(MethodsTest, archived_sessions_are_listed_apart) {
  for (const char* key : {"a", "b"}) create(key);
  payload("sessions.patch", {{"key", "a"}, {"archived", true}});
  EXPECT_THAT(keys(payload("sessions.list")), testing::ElementsAre("b"));
  EXPECT_THAT(keys(payload("sessions.list", {{"archived", true}})), testing::ElementsAre("a"));
  EXPECT_EQ(payload("sessions.list", {{"archived", "all"}}).at("totalCount"), 2);
  EXPECT_EQ(code_of(ask("sessions.list", {{"archived", "some"}})), "INVALID_REQUEST");
}

TEST_F(MethodsTest, only_active_sessions_can_be_asked_for) {
  create("idle");
  provider.reply({Hang{}});
  ask("agent", turn("busy", "hi", "k"));
  const json::Value list = payload("sessions.list", {{"activeOnly", true}});
  EXPECT_THAT(keys(list), testing::ElementsAre("busy"));
  EXPECT_EQ(list.at("totalCount"), 1);
  EXPECT_EQ(list.at("sessions").at(0).at("hasActiveRun"), true);
  EXPECT_EQ(list.at("sessions").at(0).at("activeRunIds"), json::parse(R"(["k"])", "r"));
}

TEST_F(MethodsTest, creating_a_session_twice_is_creating_it_once) {
  const json::Value first = payload("sessions.create", {{"key", "s"}, {"agentId", "main"}, {"cwd", "/w"}});
  EXPECT_EQ(first.at("runStarted"), false);
  EXPECT_EQ(first.at("entry").at("sessionRoot"), "/w");
  EXPECT_EQ(payload("sessions.create", {{"key", "s"}, {"agentId", "main"}}).at("sessionId"),
            first.at("sessionId"));
  EXPECT_EQ(sessions.size(), 1u);
}

TEST_F(MethodsTest, requests_at_once_for_a_new_session_make_one) {
  methods.handle(client.client, {"a", "sessions.create", json::Object{{"key", "s"}, {"agentId", "main"}}});
  methods.handle(client.client, {"b", "agent", turn("s", "hi", "k")});
  methods.handle(client.client, {"c", "sessions.create", json::Object{{"key", "s"}, {"agentId", "main"}}});
  run();
  EXPECT_EQ(client.response("a").at("payload").at("sessionId"),
            client.response("c").at("payload").at("sessionId"));
  EXPECT_EQ(sessions.size(), 1u);
}

TEST_F(MethodsTest, a_patch_that_cannot_be_stored_has_not_happened) {
  create("s");
  store.is_full = true;
  const json::Value response = ask("sessions.patch", {{"key", "s"}, {"label", "new"}});
  EXPECT_EQ(code_of(response), "UNAVAILABLE");
  EXPECT_EQ(response.at("error").at("retryable"), true);
  store.is_full = false;
  EXPECT_TRUE(payload("sessions.describe", {{"key", "s"}}).at("entry").at("label").is_null());
}

TEST_F(MethodsTest, a_label_can_be_taken_away) {
  create("s");
  payload("sessions.patch", {{"key", "s"}, {"label", "one"}});
  EXPECT_TRUE(
      payload("sessions.patch", {{"key", "s"}, {"label", nullptr}}).at("entry").at("label").is_null());
  EXPECT_EQ(code_of(ask("sessions.patch", {{"key", "nobody"}, {"label", "x"}})), "INVALID_REQUEST");
}

TEST_F(MethodsTest, a_deleted_session_is_gone_and_a_busy_one_stays) {
  provider.reply({Hang{}});
  ask("agent", turn("s", "hi", "k"));
  EXPECT_EQ(ask("sessions.delete", {{"key", "s"}}).at("error").at("details").at("reason"), "session-busy");
  payload("agent.abort", {{"runId", "k"}});
  payload("sessions.delete", {{"key", "s"}});
  EXPECT_EQ(sessions.size(), 0u);
  EXPECT_TRUE(payload("chat.history", {{"sessionKey", "s"}}).at("messages").as_array().empty());
  // The same key is a new session.
  create("s");
  EXPECT_TRUE(payload("chat.history", {{"sessionKey", "s"}}).at("messages").as_array().empty());
}

TEST_F(MethodsTest, injected_messages_are_the_assistants_and_reach_who_watches_the_session) {
  create("s");
  TestClient watcher(hub);
  call(watcher, "sessions.messages.subscribe", json::Object{{"key", "s"}}, "sub");
  payload("chat.inject", {{"sessionKey", "s"}, {"message", "note"}});
  ASSERT_EQ(watcher.events("session.message").size(), 1u);
  EXPECT_EQ(watcher.events("session.message")[0].at("message").at("role"), "assistant");
  call(watcher, "sessions.messages.unsubscribe", json::Object{{"key", "s"}}, "unsub");
  payload("chat.inject", {{"sessionKey", "s"}, {"message", "note"}});
  EXPECT_EQ(watcher.events("session.message").size(), 1u);
  EXPECT_EQ(code_of(ask("chat.inject", {{"sessionKey", "nobody"}, {"message", "x"}})), "INVALID_REQUEST");
}

TEST_F(MethodsTest, history_is_read_page_by_page) {
  create("s");
  for (int i = 1; i <= 5; ++i) payload("chat.inject", {{"sessionKey", "s"}, {"message", std::to_string(i)}});
  const json::Value last = payload("chat.history", {{"sessionKey", "s"}, {"limit", 2}});
  EXPECT_EQ(last.at("totalMessages"), 5);
  EXPECT_EQ(last.at("hasMore"), true);
  EXPECT_EQ(last.at("messages").at(0).at("content").at(0).at("text"), "4");
  const json::Value before = payload("chat.history", {{"sessionKey", "s"}, {"limit", 9}, {"before", 4}});
  EXPECT_EQ(before.at("messages").as_array().size(), 3u);
  EXPECT_EQ(before.at("hasMore"), false);
}

TEST_F(MethodsTest, what_is_not_there_is_said_to_be_not_there) {
  EXPECT_EQ(payload("cron.status"),
            json::parse(R"({"enabled":false,"storage":"sqlite","jobs":0,"nextWakeAtMs":null})", "c"));
  EXPECT_TRUE(payload("cron.list").at("jobs").as_array().empty());
  EXPECT_EQ(code_of(ask("cron.add", {{"name", "x"}})), "UNAVAILABLE");
  json::Object params = turn("s", "hi", "k");
  params["deliver"] = true;
  EXPECT_EQ(code_of(ask("agent", params)), "NOT_LINKED");
}

TEST_F(MethodsTest, status_and_health_tell_of_the_process) {
  const json::Value status = payload("status", {{"includeChannelSummary", false}});
  EXPECT_GT(status.at("processMemory").at("rssBytes").as_int64(), 0);
  EXPECT_TRUE(status.at("processMemory").at("externalBytes").is_null());
  EXPECT_EQ(status.at("sessions").at("count"), 0);
  EXPECT_EQ(payload("health").at("ok"), true);
}

TEST_F(MethodsTest, the_features_name_every_method_in_order) {
  const json::Value features = json::parse(Methods::features(), "features");
  const auto& names = features.at("methods").as_array();
  EXPECT_GT(names.size(), 20u);
  EXPECT_TRUE(std::ranges::is_sorted(
      names, {}, [](const json::Value& name) { return std::string_view(name.as_string()); }));
}

TEST_F(MethodsTest, keys_and_labels_have_a_limit) {
  const std::string long_text(513, 'k');
  EXPECT_EQ(code_of(ask("sessions.create", {{"key", long_text}, {"agentId", "main"}})), "INVALID_REQUEST");
  for (const char* member : {"label", "agentId"})
    EXPECT_EQ(code_of(ask("sessions.create", {{"key", "s"}, {member, long_text}})), "INVALID_REQUEST")
        << member;
  EXPECT_EQ(code_of(ask("sessions.create", {{"key", "s"}, {"cwd", std::string(4097, '/')}})),
            "INVALID_REQUEST");
  ask("sessions.create", {{"key", "s"}, {"agentId", "main"}});
  EXPECT_EQ(code_of(ask("sessions.patch", {{"key", "s"}, {"label", long_text}})), "INVALID_REQUEST");
  EXPECT_EQ(code_of(ask("agent.wait", {{"runId", long_text}, {"timeoutMs", 0}})), "INVALID_REQUEST");
  const json::Object turn{
      {"sessionKey", "s"}, {"message", "hi"}, {"idempotencyKey", "k"}, {"agentId", long_text}};
  EXPECT_EQ(code_of(ask("agent", turn)), "INVALID_REQUEST");
}

TEST_F(MethodsTest, a_list_that_is_too_large_comes_in_parts) {
  for (int i = 0; i < 30; ++i)
    ask("sessions.create", {{"key", "s" + std::to_string(i)}, {"cwd", std::string(4096, '/')}});
  ListQuery query;
  query.bytes = 50'000;
  std::size_t seen = 0;
  for (int parts = 1;; ++parts) {
    const std::string text = sessions.list(query, 0);
    EXPECT_LT(text.size(), 51'000u);
    const json::Value list = json::parse(text, "list");
    seen += list.at("sessions").as_array().size();
    if (!list.at("hasMore").as_bool()) {
      EXPECT_EQ(parts, 3);
      break;
    }
    query.offset = list.at("nextOffset").to_number<std::size_t>();
    ASSERT_EQ(query.offset, seen);
  }
  EXPECT_EQ(seen, 30u);
  query.bytes = 1;
  query.offset = 0;
  EXPECT_EQ(json::parse(sessions.list(query, 0), "list").at("count"), 1);
}

}  // namespace
}  // namespace tare::gateway
