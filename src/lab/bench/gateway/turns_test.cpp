#include "lab/bench/gateway/turns.hpp"

#include <map>

#include <gtest/gtest.h>

#include "base/text.hpp"
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
  std::string tools;               ///< that ran, by the receipt: R"("exec")"
  bool is_silent_at_last = false;  ///< no second response
};

/// Answers `agent` and `agent.wait` of one turn after the other; keeps for how long it was to wait.
asio::awaitable<void> serve(net::WebSocket& socket, Ways ways, std::vector<std::int64_t>& waits) {
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
      waits.push_back(text::to_int(member(heard, "params.timeoutMs")).value_or(-1));
      lab_gateway::respond(
          socket, heard,
          fmt::format(
              R"({{"status":"{}","terminalReply":{{"text":"{}{}"}},"terminalReceipt":{{"successfulToolNames":[{}]}}}})",
              ways.status, marker, ways.reply_end, ways.tools));
      if (!ways.is_silent_at_last) lab_gateway::respond(socket, agent, R"({"status":"ok"})");
    }
  }
}

struct World {
  explicit World(const Ways& ways, Options wish = {}, std::chrono::seconds limit = std::chrono::seconds(30))
      : options(std::move(wish)),
        gateway([this, ways](net::WebSocket& socket) { return serve(socket, ways, waits); }),
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
  std::vector<std::int64_t> waits;
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
  const World world({}, {}, std::chrono::seconds(4));
  ASSERT_EQ(world.waits.size(), 2U);
  EXPECT_GT(world.waits.front(), 0);
  EXPECT_LE(world.waits.front(), 2'000);
}

TEST(Turns, ATurnThatIsNotOkFailsTheRun) {
  Ways ways;
  ways.status = "error";
  World world(ways);
  EXPECT_EQ(world.turns->failure(), "turn of session 1: did not complete: status error, ''");
  EXPECT_EQ(world.broken().at("no_turn_lost"), 1U);
}

TEST(Turns, ATurnThatIsNotAcceptedFailsTheRun) {
  // "ok" and "in_flight" are of a run that was there before, and keys are fresh.
  for (const char* status : {"refused", "ok", "in_flight"}) {
    Ways ways;
    ways.accepted = status;
    World world(ways);
    ASSERT_TRUE(world.turns->failure()) << status;
    EXPECT_TRUE(world.turns->failure()->starts_with("turn of session 1: was not accepted: ")) << status;
  }
}

TEST(Turns, TheGatewaysWaitEndsFiveSecondsBeforeTheLimit) {
  const World world({});  // it has 30 s
  ASSERT_EQ(world.waits.size(), 2U);
  for (const std::int64_t ms : world.waits) {
    EXPECT_LE(ms, 25'000);
    EXPECT_GT(ms, 10'000);
  }
}

TEST(Turns, ASessionsNextTurnWaitsForTheLast) {
  const World world({});
  const auto& turns = world.turns->turns();
  ASSERT_EQ(turns.size(), 2U);
  EXPECT_GE(turns[1]->sent, *turns[0]->completed);
}

TEST(Turns, AToolThatDidNotRunIsBroken) {
  Options options;
  options.tool_events = true;
  Ways ways;
  EXPECT_EQ(World(ways, options).broken().at("tool_ran"), 2U);
  ways.tools = R"("other","exec")";
  EXPECT_FALSE(World(ways, options).broken().contains("tool_ran"));
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
