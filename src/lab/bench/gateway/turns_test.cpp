#include "lab/bench/gateway/turns.hpp"

#include <map>

#include <gtest/gtest.h>

#include "lab/gateway/fake_gateway_for_tests.hpp"

namespace tare::gateway_bench {
namespace {

using lab_gateway::FakeGateway;
using lab_gateway::member;
using lab_gateway::say;
namespace asio = boost::asio;

/// What a gateway does wrong with its turns; nothing by default.
struct Ways {
  std::string reply_end = " 2 3 4 5 6 7 8";  ///< behind the marker
  std::string delta_end = " 2 3 4 5 6 7 8";
  std::string run;  ///< of the events, instead of their own
  std::string accepted = "accepted";
  std::string status = "ok";       ///< of agent.wait
  int last_seq = 3;                ///< of the chat's last event, behind 1 and 2
  bool is_silent_at_last = false;  ///< no second response
  int* wait_ms = nullptr;          ///< of agent.wait, as it was asked
};

/// Answers `agent` and `agent.wait` of one turn after the other.
asio::awaitable<void> serve(net::WebSocket& socket, Ways ways) {
  co_await lab_gateway::greet(socket);
  std::string agent;
  std::string marker;
  int seq = 0;
  const auto event = [&](std::string_view name, std::string_view key, std::string_view rest) {
    const std::string run = ways.run.empty() ? marker : ways.run;
    say(socket,
        fmt::format(
            R"({{"type":"event","event":"{}","seq":{},"payload":{{"sessionKey":{},"runId":"{}",{}}}}})", name,
            ++seq, key, run, rest));
  };
  for (;;) {
    const std::string heard = co_await lab_gateway::hear(socket);
    if (member(heard, "method") == "\"agent\"") {
      agent = heard;
      marker = *lab_gateway::text_of(member(heard, "params.idempotencyKey"));
      const std::string_view key = member(heard, "params.sessionKey");
      lab_gateway::respond(socket, heard,
                           fmt::format(R"({{"status":"{}","runId":"{}"}})", ways.accepted, marker));
      event("chat", key, fmt::format(R"("seq":1,"state":"delta","deltaText":"{}")", marker));
      event("agent", key, fmt::format(R"("seq":1,"stream":"assistant","data":{{"delta":"{}"}})", marker));
      event("chat", key, fmt::format(R"("seq":2,"state":"delta","deltaText":"{}")", ways.delta_end));
      event("agent", key,
            fmt::format(R"("seq":2,"stream":"assistant","data":{{"delta":"{}"}})", ways.delta_end));
      event(
          "chat", key,
          fmt::format(R"("seq":{},"state":"final","message":{{"content":[{{"type":"text","text":"{}{}"}}]}})",
                      ways.last_seq, marker, ways.reply_end));
    } else {
      if (ways.wait_ms != nullptr)
        *ways.wait_ms = static_cast<int>(*lab_gateway::number_of(member(heard, "params.timeoutMs")));
      lab_gateway::respond(socket, heard,
                           fmt::format(R"({{"status":"{}","terminalReply":{{"text":"{}{}"}}}})", ways.status,
                                       marker, ways.reply_end));
      if (!ways.is_silent_at_last) lab_gateway::respond(socket, agent, R"({"status":"ok"})");
    }
  }
}

struct World {
  explicit World(const Ways& ways, std::chrono::seconds limit = std::chrono::seconds(30))
      : gateway([ways](net::WebSocket& socket) -> asio::awaitable<void> { co_await serve(socket, ways); }),
        wakeup(gateway.io),
        client(gateway.connect()) {
    Turns::Plan plan;
    plan.sessions = {0};
    plan.turns_per_session = 2;
    plan.deadline = std::chrono::steady_clock::now() + limit;
    turns.emplace(std::vector<lab_gateway::Client*>{client.get()}, options, script, wakeup, std::move(plan));
    client->on_event([this](const lab_gateway::Event& event) { turns->take_event(0, event); });
    turns->begin();
    gateway.run(wait());
  }

  asio::awaitable<void> wait() {
    co_await wakeup.until([this] { return turns->failure() || turns->done(); },
                          std::chrono::steady_clock::now() + std::chrono::seconds(30));
  }

  std::map<std::string, std::uint64_t> broken() {
    std::map<std::string, std::uint64_t> found;
    for (const report::Invariant& one : turns->conclude().all()) {
      if (!one.ok) found[one.id] = one.broken;
    }
    return found;
  }

  Options options;
  Script script{options, 1};
  FakeGateway gateway;
  Wakeup wakeup;
  std::shared_ptr<lab_gateway::Client> client;
  std::optional<Turns> turns;
};

using Broken = std::map<std::string, std::uint64_t>;

TEST(Turns, OfAGoodGatewayBreakNothing) {
  World world({});
  EXPECT_EQ(world.turns->failure(), std::nullopt);
  EXPECT_EQ(world.turns->completed(), 2U);
  EXPECT_EQ(world.turns->turns().front()->streamed, "load-1-1-1 2 3 4 5 6 7 8");
  EXPECT_TRUE(world.turns->turns().front()->first_token.has_value());
  EXPECT_EQ(world.turns->gaps().ended(),
            4U);  // each text comes in a chat and in an agent event; the first starts
  Broken broken = world.broken();
  broken.erase("settled");  // the last response may be on its way still
  EXPECT_EQ(broken, Broken{});
}

TEST(Turns, AReplyThatIsNotTheModelsIsBroken) {
  Ways ways;
  ways.reply_end = " 2 3 4 5 6 7 9";
  Broken broken = World(ways).broken();
  broken.erase("settled");
  EXPECT_EQ(broken, (Broken{{"reply_exact", 2}, {"final_exact", 2}}));
}

TEST(Turns, AStreamThatLacksAPieceIsBroken) {
  Ways ways;
  ways.delta_end = " 2 3 4 5 6 7";
  Broken broken = World(ways).broken();
  broken.erase("settled");
  EXPECT_EQ(broken, (Broken{{"stream_exact", 2}}));
}

TEST(Turns, AReplyWithoutEndIsNotKept) {
  Ways ways;
  ways.delta_end = ways.reply_end = std::string(1'000'000, 'x');
  World world(ways);
  for (const auto& turn : world.turns->turns()) {
    EXPECT_LT(turn->streamed.size(), 100U);
    EXPECT_LT(turn->final_text.size(), 100U);
  }
  Broken broken = world.broken();
  broken.erase("settled");
  EXPECT_EQ(broken, (Broken{{"reply_exact", 2}, {"stream_exact", 2}, {"final_exact", 2}}));
}

TEST(Turns, WhatIsSaidOfAFaultIsShort) {
  Ways ways;
  for (int i = 0; i < 1000; ++i) ways.status += "ü";
  EXPECT_LT(World(ways).turns->failure()->size(), 600U);
}

TEST(Turns, EventsOfAnotherRunAreBroken) {
  Ways ways;
  ways.run = "somebody";
  const Broken broken = World(ways).broken();
  EXPECT_EQ(broken.at("own_events"), 10U);
}

TEST(Turns, EventsOutOfOrderAreBroken) {
  Ways ways;
  ways.last_seq = 1;
  EXPECT_EQ(World(ways).broken().at("events_in_order"), 2U);
}

TEST(Turns, AGatewayMayWaitForATurnHoweverLittleTimeThereIs) {
  int wait_ms = 0;
  Ways ways;
  ways.wait_ms = &wait_ms;
  World(ways, std::chrono::seconds(30));
  EXPECT_GT(wait_ms, 15'000);
  EXPECT_LE(wait_ms, 25'000);
  World(ways, std::chrono::seconds(4));
  EXPECT_GT(wait_ms, 0);
  EXPECT_LE(wait_ms, 2'000);
}

TEST(Turns, ATurnThatIsNotOkFailsTheRun) {
  Ways ways;
  ways.status = "error";
  World world(ways);
  EXPECT_EQ(world.turns->failure(), "turn of session 1: did not complete: status error, ''");
  EXPECT_EQ(world.broken().at("no_turn_lost"), 1U);
}

TEST(Turns, ATurnThatIsNotAcceptedFailsTheRun) {
  Ways ways;
  ways.accepted = "refused";
  World world(ways);
  ASSERT_TRUE(world.turns->failure());
  EXPECT_TRUE(world.turns->failure()->starts_with("turn of session 1: was not accepted: "));
}

TEST(Turns, OneWithoutASecondResponseIsNotSettled) {
  Ways ways;
  ways.is_silent_at_last = true;
  World world(ways);
  EXPECT_EQ(world.turns->completed(), 2U);
  EXPECT_FALSE(world.turns->settled());
  EXPECT_EQ(world.broken(), (Broken{{"settled", 2}}));
}

}  // namespace
}  // namespace tare::gateway_bench
