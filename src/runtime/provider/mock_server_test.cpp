#include "runtime/provider/mock_server.hpp"

#include <gmock/gmock.h>

#include "base/json.hpp"
#include "runtime/provider/world_for_tests.hpp"

namespace tare::provider {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

/// Requests that the client of a gateway would not make.
class RawClient {
 public:
  explicit RawClient(World& world)
      : world_(world), http_(world.io, {"http", "127.0.0.1", world.server->port(), "/"}, {}) {}

  net::Response get(std::string target) { return run(world_.io, http_.request({"GET", std::move(target)})); }
  net::Response post(std::string target, std::string body) {
    return run(world_.io, http_.request({"POST", std::move(target), {}, std::move(body)}));
  }

 private:
  World& world_;
  net::HttpClient http_;
};

std::vector<json::Value> logged(const World& world) {
  std::vector<json::Value> lines;
  const std::string log = world.log();
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = log.find('\n', at);
    lines.push_back(json::parse(std::string_view(log).substr(at, end - at), "a line of the log"));
    at = end + 1;
  }
  return lines;
}

TEST(MockServer, says_that_it_lives_and_does_not_count_that) {
  World world(Dialect::responses);
  RawClient client(world);
  for (const char* path : {"/healthz", "/health"}) {
    const net::Response response = client.get(path);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, R"({"ok":true,"status":"live"})");
  }
  EXPECT_EQ(world.server->requests(), 0U);
  EXPECT_EQ(world.log(), "");
}

TEST(MockServer, answers_what_a_client_of_openai_asks_besides) {
  World world(Dialect::responses);
  RawClient client(world);
  EXPECT_THAT(client.get("/v1/models").body, HasSubstr(R"("id":"tare-mock")"));
  EXPECT_THAT(client.post("/v1/embeddings", R"({"model":"e","input":"a"})").body,
              HasSubstr(R"("embedding":[)"));
  const net::Response whole =
      client.post("/v1/responses?x=1", R"({"model":"m","stream":false,"input":"[[marker:x]][[chunks:2]]"})");
  EXPECT_EQ(net::find(whole.headers, "content-type"), "application/json");
  EXPECT_THAT(whole.body, HasSubstr(R"("text":"x 2")"));
  EXPECT_THAT(
      client.post("/v1/chat/completions", R"({"model":"m","messages":[{"role":"user","content":"Hi"}]})")
          .body,
      HasSubstr(R"("content":"Tare mock reply. 2 3 4 5 6 7 8")"));
}

TEST(MockServer, refuses_what_it_does_not_know_and_says_why) {
  World world(Dialect::responses);
  RawClient client(world);
  EXPECT_EQ(client.get("/v1/responses").status, 404);
  EXPECT_EQ(client.post("/v1/responce", "{}").status, 404);
  const net::Response bad = client.post("/v1/responses", "{");
  EXPECT_EQ(bad.status, 400);
  EXPECT_THAT(bad.body, HasSubstr("the body: not JSON (it ends early, after 1 bytes)"));
  EXPECT_THAT(client.post("/v1/responses", R"({"model":"m","input":"[[fault:stal]]"})").body,
              HasSubstr("no fault 'stal'"));
  EXPECT_EQ(client.post("/v1/embeddings", "{}").status, 400);
}

TEST(MockServer, a_fault_may_be_in_the_name_of_the_model) {
  World world(Dialect::chat);
  const Received received = world.ask(ModelRequest{.model = "gpt-fault:400", .items = {UserMessage{"Hi"}}});
  ASSERT_TRUE(received.failure);
  EXPECT_EQ(received.failure->status(), 400);
}

TEST(MockServer, its_own_fault_strikes_requests_that_name_none) {
  World world(Dialect::chat, {.fault = parse_fault("400,every=2", "")});
  EXPECT_FALSE(world.ask("one").failure);
  EXPECT_TRUE(world.ask("two").failure);
  EXPECT_FALSE(world.ask("three").failure);
  EXPECT_EQ(world.ask("[[fault:404]]").failure->status(), 404);
}

TEST(MockServer, a_reply_without_a_stream_has_its_faults_too) {
  World world(Dialect::responses);
  RawClient client(world);
  const auto ask = [&](const std::string& fault) {
    return client.post("/v1/responses", R"({"model":"m","input":"[[fault:)" + fault + R"(]]"})");
  };
  EXPECT_EQ(ask("503").status, 503);
  EXPECT_EQ(ask("error").status, 500);
  EXPECT_THROW(json::parse(ask("garbage").body, ""), Error);
  EXPECT_THROW(json::parse(ask("bad-utf8").body, ""), Error);
  EXPECT_THROW(ask("cut"), Error);
  EXPECT_EQ(ask("slow,delay=1").status, 200);
}

TEST(MockServer, the_log_has_a_line_for_each_request) {
  World world(Dialect::responses);
  world.ask("[[marker:s-1]][[chunks:3]]");
  world.ask("[[fault:cut,after=1]]");
  world.ask("[[fault:400]]");
  const std::vector<json::Value> lines = logged(world);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].at("seq").to_number<int>(), 1);
  EXPECT_EQ(lines[0].at("method"), "POST");
  EXPECT_EQ(lines[0].at("path"), "/v1/responses");
  EXPECT_GT(lines[0].at("requestBytes").to_number<int>(), 50);
  EXPECT_EQ(lines[0].at("marker"), "s-1");
  EXPECT_EQ(lines[0].at("chunks").to_number<int>(), 3);
  EXPECT_EQ(lines[0].at("outcome"), "ok");
  EXPECT_LE(lines[0].at("arrivedNs").as_int64(), lines[0].at("firstChunkNs").as_int64());
  EXPECT_LE(lines[0].at("firstChunkNs").as_int64(), lines[0].at("lastChunkNs").as_int64());
  EXPECT_EQ(lines[1].at("outcome"), "fault");
  EXPECT_EQ(lines[1].at("fault"), "cut");
  EXPECT_EQ(lines[1].at("chunks").to_number<int>(), 1);
  EXPECT_EQ(lines[2].at("fault"), "400");
  EXPECT_TRUE(lines[2].at("chunks").is_null());
}

TEST(MockServer, stamps_are_in_the_text_when_asked_for) {
  World world(Dialect::chat, {.stamps = Stamps::text});
  EXPECT_THAT(world.ask("[[marker:x]][[chunks:2]]").text, MatchesRegex("x\\{@[0-9]+\\} 2\\{@[0-9]+\\}"));
  World plain(Dialect::chat, {.stamps = Stamps::field});
  EXPECT_EQ(plain.ask("[[marker:x]][[chunks:2]]").text, "x 2");
}

TEST(MockServer, stop_cuts_what_stalls_and_the_log_says_so) {
  World world(Dialect::responses);
  bool stopped = false;
  const auto ask = [&]() -> boost::asio::awaitable<Received> {
    const ModelRequest request{.model = "m", .items = {UserMessage{"[[marker:x]][[fault:stall]]"}}};
    Received received;
    const auto stream = co_await world.client->open(request);
    received.events = co_await stream->next();
    world.server->stop();
    stopped = true;
    try {
      co_await stream->next();
    } catch (const Failure& failure) {
      received.failure = failure;
    }
    co_return received;
  };
  const Received received = run(world.io, ask());
  EXPECT_TRUE(stopped);
  ASSERT_TRUE(received.failure);
  EXPECT_EQ(received.failure->kind(), FailureKind::cut);
  while (world.log().empty() && world.io.run_one_for(std::chrono::seconds(10)) > 0) {
  }
  EXPECT_THAT(world.log(), HasSubstr(R"("outcome":"stopped")"));
}

TEST(MockServer, a_log_that_cannot_be_written_is_told_once) {
  boost::asio::io_context io;
  const SystemClock clock;
  std::vector<std::string> failures;
  MockServer server(io, {.log = "/dev/full"}, clock,
                    [&](const Error& error) { failures.push_back(error.line()); });
  Client client(io, {.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/v1"}, clock,
                [] { return 0.0; });
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(run(io, receive(client, {.model = "m", .items = {UserMessage{"Hi"}}})).failure);
  }
  EXPECT_THAT(failures, testing::ElementsAre(HasSubstr("cannot write the request log '/dev/full'")));
}

TEST(MockServer, nothing_is_reachable_from_other_machines_without_a_key) {
  boost::asio::io_context io;
  const SystemClock clock;
  for (const char* address : {"0.0.0.0", "::", "192.0.2.1", "localhost", ""})
    EXPECT_THROW(MockServer(io, {.bind = address}, clock), Error) << address;
  EXPECT_NO_THROW(MockServer(io, {.bind = "0.0.0.0", .api_key = "key"}, clock));
  EXPECT_NO_THROW(MockServer(io, {.bind = "127.0.0.2"}, clock));
}

TEST(MockServer, a_port_that_is_taken_is_refused) {
  boost::asio::io_context io;
  const SystemClock clock;
  const MockServer first(io, {}, clock);
  try {
    const MockServer second(io, {.port = first.port()}, clock);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.line(), HasSubstr("Address already in use"));
  }
}

}  // namespace
}  // namespace tare::provider
