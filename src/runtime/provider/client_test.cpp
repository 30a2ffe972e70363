#include "runtime/provider/client.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <gmock/gmock.h>

#include "runtime/provider/world_for_tests.hpp"

namespace tare::provider {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class Clients : public testing::TestWithParam<Dialect> {};
INSTANTIATE_TEST_SUITE_P(Both, Clients, testing::Values(Dialect::responses, Dialect::chat),
                         [](const auto& test) {
                           return test.param == Dialect::responses ? "responses" : "chat";
                         });

TEST_P(Clients, a_reply_is_the_marker_and_its_chunks_and_then_done) {
  World world(GetParam());
  const Received received = world.ask("Say [[marker:grüße \"1\"]][[chunks:3]]");
  EXPECT_FALSE(received.failure);
  EXPECT_EQ(received.text, "grüße \"1\" 2 3");
  ASSERT_EQ(received.events.size(), 5U);
  EXPECT_TRUE(std::holds_alternative<Usage>(received.events[3]));
  EXPECT_EQ(received.events[4], Event(Done{StopReason::stop}));
}

TEST_P(Clients, a_reply_with_delays_is_the_same) {
  World world(GetParam());
  EXPECT_EQ(world.ask("[[marker:x]][[chunks:4]][[delay:0.3]]").text, "x 2 3 4");
}

TEST_P(Clients, a_long_reply_is_whole) {
  World world(GetParam());
  const Received received = world.ask("[[marker:x]][[chunks:20000]]");
  EXPECT_FALSE(received.failure);
  EXPECT_TRUE(received.text.ends_with(" 19999 20000"));
}

TEST_P(Clients, calls_go_out_and_their_results_back) {
  World world(GetParam());
  ModelRequest request{
      .model = "m",
      .system = "Be brief.",
      .items = {UserMessage{R"([[marker:done]][[chunks:1]][[tool:exec {"command":"date"}]])"}},
      .tools = {{"exec", "Runs a command.", R"({"type":"object"})"}}};
  const Received first = world.ask(request);
  ASSERT_EQ(first.events.size(), 4U);
  const auto* call = std::get_if<ToolCall>(&first.events[1]);
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->arguments, R"({"command":"date"})");
  EXPECT_EQ(first.events.back(), Event(Done{StopReason::tool_calls}));

  request.items.emplace_back(AssistantMessage{first.text, {*call}});
  request.items.emplace_back(ToolResult{call->id, "noon"});
  EXPECT_EQ(world.ask(request).text, "done");
}

TEST_P(Clients, one_connection_carries_many_requests) {
  World world(GetParam());
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(world.ask("Hi").failure);
  EXPECT_EQ(world.client->connections(), 1U);
}

TEST_P(Clients, characters_that_come_in_two_pieces_are_joined) {
  World world(GetParam());
  EXPECT_EQ(world.ask("[[marker:x]][[chunks:2]][[fault:split]]").text, "x é😀 2 é😀");
}

TEST_P(Clients, an_overloaded_server_is_asked_again) {
  World world(GetParam());
  const Received received = world.ask("[[marker:x]][[chunks:1]][[fault:503,times=2]]");
  EXPECT_EQ(received.text, "x");
  EXPECT_EQ(world.server->requests(), 3U);
}

TEST_P(Clients, after_the_last_attempt_the_failure_is_the_callers) {
  World world(GetParam());
  const Received received = world.ask("[[fault:500]]");
  ASSERT_TRUE(received.failure);
  EXPECT_EQ(received.failure->kind(), FailureKind::overloaded);
  EXPECT_EQ(received.failure->status(), 500);
  EXPECT_TRUE(received.failure->retryable());
  EXPECT_EQ(received.failure->why(), "asked for by the request");
  EXPECT_EQ(world.server->requests(), 3U);
}

TEST_P(Clients, retry_after_is_kept_or_handed_on) {
  World world(GetParam());
  EXPECT_FALSE(world.ask("[[fault:429,retry-after=0.01,times=1]]").failure);
  EXPECT_EQ(world.server->requests(), 2U);

  const Received received = world.ask("[[fault:429,retry-after=60]]");
  ASSERT_TRUE(received.failure);
  EXPECT_EQ(received.failure->kind(), FailureKind::rate_limited);
  EXPECT_EQ(received.failure->retry_after(), seconds(60));
  EXPECT_EQ(world.server->requests(), 3U) << "longer than the client's patience: not asked again";
}

TEST_P(Clients, a_refusal_is_not_asked_again) {
  World world(GetParam());
  for (const auto& [fault, kind] :
       {std::pair("400", FailureKind::rejected), std::pair("404", FailureKind::rejected),
        std::pair("403", FailureKind::unauthorized)}) {
    const auto before = world.server->requests();
    const Received received = world.ask(std::string("[[fault:") + fault + "]]");
    ASSERT_TRUE(received.failure) << fault;
    EXPECT_EQ(received.failure->kind(), kind);
    EXPECT_FALSE(received.failure->retryable());
    EXPECT_EQ(world.server->requests(), before + 1);
  }
}

TEST_P(Clients, a_connection_that_is_cut_before_the_first_byte_is_tried_again) {
  World world(GetParam());
  EXPECT_EQ(world.ask("[[marker:x]][[chunks:1]][[fault:cut,after=0,times=1]]").text, "x");
  EXPECT_EQ(world.server->requests(), 2U);
}

struct Expected {
  const char* fault;
  FailureKind kind;
  const char* text;  ///< that came before it
};

TEST_P(Clients, a_fault_in_the_middle_keeps_what_came_and_is_not_asked_again) {
  World world(GetParam(), {}, {.silence = milliseconds(500)});
  for (const Expected& expected :
       {Expected{"cut,after=2", FailureKind::cut, "x 2"}, Expected{"cut,after=9", FailureKind::cut, "x 2 3"},
        Expected{"short,after=2", FailureKind::cut, "x 2"},
        Expected{"garbage,after=1", FailureKind::garbage, "x"},
        Expected{"bad-utf8,after=1", FailureKind::garbage, "x"},
        Expected{"error,after=2", FailureKind::reported, "x 2"},
        Expected{"stall,after=1", FailureKind::timeout, "x"}}) {
    const auto before = world.server->requests();
    const Received received =
        world.ask(std::string("[[marker:x]][[chunks:3]][[fault:") + expected.fault + "]]");
    ASSERT_TRUE(received.failure) << expected.fault;
    EXPECT_EQ(received.failure->kind(), expected.kind) << expected.fault << ": " << received.failure->line();
    EXPECT_EQ(received.text, expected.text) << expected.fault;
    EXPECT_EQ(world.server->requests(), before + 1) << expected.fault;
  }
  EXPECT_FALSE(world.ask("Hi").failure) << "the client is usable behind all of them";
}

TEST_P(Clients, an_answer_that_does_not_begin_is_late) {
  World world(GetParam(), {}, {.first_byte = milliseconds(50)});
  const Received received = world.ask("[[fault:slow,delay=60000]]");
  ASSERT_TRUE(received.failure);
  EXPECT_EQ(received.failure->kind(), FailureKind::timeout);
  EXPECT_EQ(received.failure->why(), "no answer within 0.05 s");
  EXPECT_EQ(world.server->requests(), 1U);
}

TEST_P(Clients, a_reply_that_drips_for_ever_ends_at_the_limit_of_the_whole) {
  World world(GetParam(), {}, {.whole = milliseconds(500)});
  const Received received = world.ask("[[marker:x]][[chunks:1000]][[delay:5]]");
  ASSERT_TRUE(received.failure);
  EXPECT_EQ(received.failure->kind(), FailureKind::timeout);
  EXPECT_EQ(received.failure->why(), "the reply was not whole within 0.5 s");
  EXPECT_TRUE(received.text.starts_with("x"));
}

TEST_P(Clients, a_reply_that_is_too_large_is_given_up) {
  World world(GetParam(), {}, {.reply_bytes = 10'000});
  const Received received = world.ask("[[chunks:1000]]");
  ASSERT_TRUE(received.failure);
  EXPECT_EQ(received.failure->kind(), FailureKind::too_large);
}

TEST_P(Clients, a_page_is_not_a_reply) {
  World world(GetParam());
  const Received received = world.ask("[[fault:html]]");
  ASSERT_TRUE(received.failure);
  EXPECT_EQ(received.failure->kind(), FailureKind::garbage);
  EXPECT_THAT(received.failure->line(), HasSubstr("is not a model server (it answers with text/html)"));
}

TEST_P(Clients, a_wrong_key_is_named_but_not_shown) {
  World world(GetParam(), {.api_key = "right"}, {.api_key = "wrong-secret"});
  const Received received = world.ask("Hi");
  ASSERT_TRUE(received.failure);
  EXPECT_EQ(received.failure->kind(), FailureKind::unauthorized);
  EXPECT_THAT(received.failure->line(), HasSubstr("(the API key is missing or wrong); check the API key"));
  EXPECT_THAT(received.failure->line(), testing::Not(HasSubstr("secret")));
}

TEST_P(Clients, the_right_key_opens) {
  World world(GetParam(), {.api_key = "right"}, {.api_key = "right"});
  EXPECT_FALSE(world.ask("Hi").failure);
}

TEST_P(Clients, a_server_that_is_not_there_is_unreachable) {
  World world(GetParam());
  world.server.reset();
  const Received received = world.ask("Hi");
  ASSERT_TRUE(received.failure);
  EXPECT_EQ(received.failure->kind(), FailureKind::unreachable);
  EXPECT_TRUE(received.failure->retryable());
  EXPECT_THAT(received.failure->line(), HasSubstr("cannot reach the model server at http://127.0.0.1:"));
}

TEST_P(Clients, more_requests_than_connections_wait_for_their_turn_and_no_limit_runs_meanwhile) {
  // Thirty replies of 80 ms each through two connections take 1.2 s, which is more than any of the limits.
  World world(GetParam(), {}, {.connections = 2, .first_byte = seconds(1), .whole = seconds(1)});
  std::vector<Received> received(30);
  std::size_t ended = 0;
  for (Received& one : received) {
    boost::asio::co_spawn(
        world.io, receive(*world.client, {.model = "m", .items = {UserMessage{"[[chunks:3]][[delay:40]]"}}}),
        [&](const std::exception_ptr&, Received value) {
          one = std::move(value);
          ++ended;
        });
  }
  world.io.restart();
  while (ended < received.size() && world.io.run_one_for(seconds(10)) > 0) {
  }
  EXPECT_EQ(world.client->connections(), 2U);
  for (const Received& one : received) EXPECT_EQ(one.text, "Tare mock reply. 2 3");
}

TEST_P(Clients, a_reply_can_be_cancelled_while_it_stalls) {
  World world(GetParam());
  boost::asio::cancellation_signal signal;
  std::exception_ptr failure;
  bool ended = false;
  std::string text;
  const auto read = [&]() -> boost::asio::awaitable<void> {
    const ModelRequest request{.model = "m", .items = {UserMessage{"[[marker:x]][[fault:stall]]"}}};
    const auto stream = co_await world.client->open(request);
    const Events events = co_await stream->next();
    text = std::get<TextDelta>(events.front()).text;
    boost::asio::post(world.io, [&] { signal.emit(boost::asio::cancellation_type::terminal); });
    co_await stream->next();
  };
  boost::asio::co_spawn(
      world.io, read(),
      boost::asio::bind_cancellation_slot(signal.slot(), [&](const std::exception_ptr& error) {
        failure = error;
        ended = true;
      }));
  world.io.restart();
  while (!ended && world.io.run_one_for(seconds(10)) > 0) {
  }
  EXPECT_EQ(text, "x");
  EXPECT_TRUE(ended);
  EXPECT_THROW(std::rethrow_exception(failure), boost::system::system_error);
  world.io.run_for(milliseconds(0));
  EXPECT_EQ(world.client->connections(), 0U) << "its connection is closed";
}

TEST_P(Clients, a_reply_that_is_dropped_frees_its_connection) {
  World world(GetParam(), {}, {.connections = 1});
  const auto drop = [&]() -> boost::asio::awaitable<Events> {
    const ModelRequest request{.model = "m", .items = {UserMessage{"[[marker:x]][[fault:stall]]"}}};
    const auto stream = co_await world.client->open(request);
    co_return co_await stream->next();
  };
  EXPECT_EQ(run(world.io, drop()).size(), 1U);
  EXPECT_EQ(world.client->connections(), 0U);
  EXPECT_FALSE(world.ask("Hi").failure);
}

TEST(Client, refuses_what_is_no_url) {
  boost::asio::io_context io;
  const SystemClock clock;
  EXPECT_THROW(Client(io, {.url = "localhost"}, clock, [] { return 0.0; }), Error);
}

}  // namespace
}  // namespace tare::provider
