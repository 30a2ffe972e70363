#include "lab/gateway/client.hpp"

#include <map>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/gateway/fake_gateway_for_tests.hpp"

namespace tare::lab_gateway {
namespace {

using load::Outcome;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// Answers as they came: "ok PAYLOAD", "failed CODE ERROR", "timeout", "censored".
struct Answers : std::vector<std::string> {
  Client::Answered take() {
    return [this](const Answer& answer) {
      EXPECT_GE(answer.at, answer.sent);
      switch (answer.outcome) {
        case Outcome::ok:
          return push_back("ok " + std::string(answer.payload));
        case Outcome::failed:
          return push_back("failed " + std::string(answer.code) + " " + answer.error);
        case Outcome::timeout:
          return push_back("timeout " + answer.error);
        case Outcome::censored:
          return push_back("censored");
      }
    };
  }
};

/// Greets and does this with each request that comes.
FakeGateway::Script each(std::function<void(net::WebSocket&, const std::string&)> answer) {
  return [answer = std::move(answer)](net::WebSocket& socket) -> asio::awaitable<void> {
    co_await greet(socket);
    for (;;) {
      const std::string heard = co_await hear(socket);
      answer(socket, heard);
    }
  };
}

TEST(Client, AsksAndIsAnswered) {
  std::string asked;
  FakeGateway gateway(each([&](net::WebSocket& socket, const std::string& heard) {
    asked = heard;
    respond(socket, heard, R"({"sessions":[]})");
  }));
  const auto client = gateway.connect();
  Answers answers;
  client->ask("sessions.list", R"({"limit":3})", 5s, answers.take());
  EXPECT_EQ(client->open(), 1U);
  gateway.run_until([&] { return answers.size() == 1; });
  EXPECT_THAT(answers, ElementsAre(R"(ok {"sessions":[]})"));
  EXPECT_EQ(member(asked, "type"), R"("req")");
  EXPECT_EQ(member(asked, "method"), R"("sessions.list")");
  EXPECT_EQ(member(asked, "params"), R"({"limit":3})");
  EXPECT_EQ(client->open(), 0U);
  EXPECT_EQ(client->traffic().responses, 2U);  // hello is one
  EXPECT_GT(client->traffic().bytes_in, 100U);
  EXPECT_GT(client->traffic().bytes_out, 100U);
}

TEST(Client, AnswersInAnyOrder) {
  std::vector<std::string> requests;
  FakeGateway gateway(each([&](net::WebSocket& socket, const std::string& heard) {
    requests.push_back(heard);
    if (requests.size() < 3) return;
    for (auto request = requests.rbegin(); request != requests.rend(); ++request)
      respond(socket, *request, member(*request, "params"));
  }));
  const auto client = gateway.connect();
  Answers answers;
  for (const char* number : {"1", "2", "3"}) client->ask("m", number, 5s, answers.take());
  gateway.run_until([&] { return answers.size() == 3; });
  EXPECT_THAT(answers, ElementsAre("ok 3", "ok 2", "ok 1"));
}

TEST(Client, TenThousandRequestsInFlight) {
  constexpr int count = 10'000;
  std::vector<std::string> requests;
  FakeGateway gateway(each([&](net::WebSocket& socket, const std::string& heard) {
    requests.push_back(heard);
    if (requests.size() < count) return;
    for (const std::string& request : requests) respond(socket, request, member(request, "params"));
  }));
  const auto client = gateway.connect();
  int right = 0;
  for (int i = 0; i < count; ++i) {
    client->ask("m", std::to_string(i), 60s,
                [&right, i](const Answer& answer) { right += answer.payload == std::to_string(i) ? 1 : 0; });
  }
  EXPECT_EQ(client->open(), 10'000U);
  gateway.run_until([&] { return client->open() == 0; });
  EXPECT_EQ(right, count);
}

TEST(Client, ARefusalHasItsCodeAndWords) {
  FakeGateway gateway(each([&](net::WebSocket& socket, const std::string& heard) {
    const bool has_message = member(heard, "params") == "1";
    refuse(socket, heard,
           has_message ? R"({"code":"INVALID_REQUEST","message":"at root: \"bogus\""})" : R"({"code":7})");
  }));
  const auto client = gateway.connect();
  Answers answers;
  client->ask("m", "1", 5s, answers.take());
  client->ask("m", "2", 5s, answers.take());
  gateway.run_until([&] { return answers.size() == 2; });
  EXPECT_THAT(answers, ElementsAre(R"(failed INVALID_REQUEST m failed: at root: "bogus")",
                                   R"(failed  m failed: {"code":7})"));
}

TEST(Client, ALongErrorIsCutBetweenCharacters) {
  std::string message;
  for (int i = 0; i < 400; ++i) message += "é";
  FakeGateway gateway(each([&](net::WebSocket& socket, const std::string& heard) {
    refuse(socket, heard, R"({"message":")" + message + R"("})");
  }));
  const auto client = gateway.connect();
  std::string error;
  client->ask("me", "{}", 5s, [&](const Answer& answer) { error = answer.error; });
  gateway.run_until([&] { return client->open() == 0; });
  EXPECT_EQ(error.size(), 499U);  // "me failed: " has 11, each é two
  EXPECT_EQ(error.substr(497), "é");
}

TEST(Client, ARequestMayGetTwoResponses) {
  FakeGateway gateway(each([&](net::WebSocket& socket, const std::string& heard) {
    if (member(heard, "params") == R"("refused")") return refuse(socket, heard, R"({"message":"no"})");
    respond(socket, heard, R"({"status":"accepted"})");
    if (member(heard, "params") == R"("fails")") return refuse(socket, heard, R"({"message":"died"})");
    respond(socket, heard, R"({"status":"ok"})");
  }));
  const auto client = gateway.connect();
  Answers answers;
  client->ask("agent", R"("runs")", 5s, answers.take(), Client::Answers::two);
  client->ask("agent", R"("fails")", 5s, answers.take(), Client::Answers::two);
  client->ask("agent", R"("refused")", 5s, answers.take(), Client::Answers::two);
  gateway.run_until([&] { return answers.size() == 5; });
  EXPECT_THAT(answers, ElementsAre(R"(ok {"status":"accepted"})", R"(ok {"status":"ok"})",
                                   R"(ok {"status":"accepted"})", "failed  agent failed: died",
                                   "failed  agent failed: no"));
  EXPECT_EQ(client->open(), 0U);
  EXPECT_EQ(client->traffic().unasked_responses, 0U);
}

TEST(Client, ARepeatedRunThatIsOverHasOneResponse) {
  for (const char* status : {"ok", "error", "timeout", "in_flight"}) {
    FakeGateway gateway(each([&](net::WebSocket& socket, const std::string& heard) {
      respond(socket, heard, fmt::format(R"({{"status":"{}"}})", status));
    }));
    const auto client = gateway.connect();
    Answers answers;
    client->ask("agent", "{}", 5s, answers.take(), Client::Answers::two);
    gateway.run_until([&] { return answers.size() == 1; });
    EXPECT_EQ(client->open(), 0U) << status;
  }
}

TEST(Client, CountsWhatNobodyAsked) {
  FakeGateway gateway(each([&](net::WebSocket& socket, const std::string& heard) {
    for (int i = 0; i < 3; ++i) respond(socket, heard, R"({"status":"accepted"})");
    for (const char* id : {"\"0\"", "\"\"", "\"x\"", "\"16777217000\"", "\"99999999999999999999999\""})
      respond(socket, fmt::format(R"({{"id":{}}})", id), "1");
    say(socket, "garbage");
    say(socket, R"({"type":"res","id":"1"})");
    tell(socket, "done", 1);
  }));
  const auto client = gateway.connect();
  Answers answers;
  client->ask("agent", "{}", 5s, answers.take(), Client::Answers::two);
  gateway.run_until([&] { return client->traffic().events == 2; });
  EXPECT_EQ(answers.size(), 2U);
  EXPECT_EQ(client->traffic().unasked_responses, 6U);
  EXPECT_EQ(client->traffic().malformed_frames, 2U);
  EXPECT_EQ(client->traffic().responses, 9U);  // the hello is one
}

TEST(Client, GivesEventsAndCountsGaps) {
  FakeGateway gateway([](net::WebSocket& socket) -> asio::awaitable<void> {
    co_await greet(socket);
    const std::string heard = co_await hear(socket);
    for (const int seq : {7, 8, 9, 12, 13, 13, 2, 3}) tell(socket, "agent", seq);
    say(socket, R"({"type":"event","event":"tick"})");
    respond(socket, heard, "1");
  });
  const auto client = gateway.connect();
  std::vector<std::string> events;
  client->on_event([&](const Event& event) {
    events.push_back(std::string(event.name) + std::string(member(event.payload, "n")));
  });
  EXPECT_EQ(gateway.run(client->request("m", "{}", 5s)), "1");
  EXPECT_THAT(events, ElementsAre("agent7", "agent8", "agent9", "agent12", "agent13", "agent13", "agent2",
                                  "agent3", "tick"));
  EXPECT_EQ(client->traffic().sequence_gaps, 3U);
  EXPECT_EQ(client->traffic().missing_events, 2U);
  EXPECT_EQ(client->traffic().events, 10U);
}

TEST(Client, AResponseAfterItsTimeIsLate) {
  std::vector<std::string> requests;
  net::WebSocket* peer = nullptr;
  FakeGateway gateway(each([&](net::WebSocket& socket, const std::string& heard) {
    requests.push_back(heard);
    peer = &socket;
  }));
  const auto client = gateway.connect();
  Answers answers;
  client->ask("slow", "{}", 60s, answers.take());
  client->ask("quick", "{}", 2ms, answers.take());
  client->ask("agent", "{}", 3ms, answers.take(), Client::Answers::two);
  gateway.run_until([&] { return answers.size() == 2 && requests.size() == 3; });
  EXPECT_THAT(answers, ElementsAre("timeout quick failed: no answer in 2 ms",
                                   "timeout agent failed: no answer in 3 ms"));
  EXPECT_EQ(client->open(), 1U);
  respond(*peer, requests[1], "1");
  respond(*peer, requests[2], R"({"status":"accepted"})");
  respond(*peer, requests[2], R"({"status":"ok"})");
  respond(*peer, requests[1], "1");
  respond(*peer, requests[0], "1");
  gateway.run_until([&] { return answers.size() == 3; });
  EXPECT_EQ(answers.back(), "ok 1");
  EXPECT_EQ(client->traffic().late_responses, 3U);
  EXPECT_EQ(client->traffic().unasked_responses, 1U);
}

TEST(Client, AConnectionThatEndsAnswersAllThatIsOpenOnce) {
  FakeGateway gateway([](net::WebSocket& socket) -> asio::awaitable<void> {
    co_await greet(socket);
    const std::string heard = co_await hear(socket);
    respond(socket, heard, R"({"status":"accepted"})");
    co_await socket.close(net::CloseCode::going_away, "bye");
  });
  const auto client = gateway.connect();
  Answers answers;
  std::vector<std::string> lost;
  client->on_lost([&](const std::string& why) {
    EXPECT_EQ(answers.size(), 3U);
    lost.push_back(why);
  });
  client->ask("agent", "{}", 5s, answers.take(), Client::Answers::two);
  client->ask("m", "{}", 5s, answers.take());
  gateway.run_until([&] { return !lost.empty(); });
  EXPECT_THAT(lost, ElementsAre("closed with 1001: bye"));
  EXPECT_THAT(answers, ElementsAre(R"(ok {"status":"accepted"})",
                                   "failed  agent failed: the connection was lost (closed with 1001: bye)",
                                   "failed  m failed: the connection was lost (closed with 1001: bye)"));
  EXPECT_FALSE(client->is_open());
  EXPECT_EQ(client->open(), 0U);
  // One more is answered, too, but not before `ask` has returned.
  client->ask("m", "{}", 5s, answers.take());
  EXPECT_EQ(answers.size(), 3U);
  gateway.run_until([&] { return answers.size() == 4; });
  EXPECT_EQ(answers.back(), "failed  m failed: not connected");
}

TEST(Client, ClosesInOrder) {
  FakeGateway gateway(each([](net::WebSocket&, const std::string&) {}));
  const auto client = gateway.connect();
  Answers answers;
  client->on_lost([](const std::string&) { ADD_FAILURE(); });
  client->ask("m", "{}", 5s, answers.take());
  gateway.run(client->close());
  gateway.run_until([&] { return !gateway.closes.empty(); });
  EXPECT_THAT(answers, ElementsAre("censored"));
  EXPECT_THAT(gateway.closes, ElementsAre(net::CloseCode::normal));
  EXPECT_FALSE(client->is_open());
  gateway.run(client->close());
  client->drop();
}

TEST(Client, DropsWithinACallback) {
  FakeGateway gateway(each([](net::WebSocket& socket, const std::string& heard) {
    respond(socket, heard, R"({"status":"accepted"})");
    respond(socket, heard, R"({"status":"ok"})");
  }));
  const auto client = gateway.connect();
  Answers answers;
  client->on_lost([](const std::string&) { ADD_FAILURE(); });
  client->ask(
      "agent", "{}", 5s,
      [&, take = answers.take()](const Answer& answer) {
        take(answer);
        client->drop();
      },
      Client::Answers::two);
  client->ask("m", "{}", 5s, answers.take());
  gateway.run_until([&] { return !gateway.closes.empty(); });
  EXPECT_THAT(answers, ElementsAre(R"(ok {"status":"accepted"})", "censored", "censored"));
}

TEST(Client, AskingAgainAtEachAnswerGoesOn) {
  FakeGateway gateway(
      each([](net::WebSocket& socket, const std::string& heard) { respond(socket, heard, "1"); }));
  const auto client = gateway.connect();
  int rounds = 0;
  std::function<void()> ask = [&] {
    client->ask("m", "{}", 5s, [&](const Answer& answer) {
      EXPECT_EQ(answer.outcome, Outcome::ok);
      if (++rounds < 100) ask();
    });
  };
  for (int i = 0; i < 3; ++i) ask();
  gateway.run_until([&] { return rounds == 102; });
  EXPECT_EQ(client->open(), 0U);
}

TEST(Client, RequestThrowsWhatWentWrong) {
  FakeGateway gateway(each([](net::WebSocket& socket, const std::string& heard) {
    if (member(heard, "params") == "1") refuse(socket, heard, R"({"message":"no such session"})");
  }));
  const auto client = gateway.connect();
  const auto failure = [&](std::string params, std::chrono::milliseconds limit) -> std::string {
    try {
      gateway.run(client->request("sessions.patch", std::move(params), limit));
      return "none";
    } catch (const Error& error) {
      return (error.code() == ErrorCode::timeout ? "timeout " : "failed ") + std::string(error.what());
    }
  };
  EXPECT_EQ(failure("1", 5s), "failed sessions.patch failed: no such session");
  EXPECT_EQ(failure("2", 2ms), "timeout sessions.patch failed: no answer in 2 ms");
}

TEST(Client, ACancelledRequestIsForgotten) {
  using namespace asio::experimental::awaitable_operators;
  FakeGateway gateway(each([](net::WebSocket&, const std::string&) {}));
  const auto client = gateway.connect();
  gateway.run([](FakeGateway& world, Client& asking) -> asio::awaitable<void> {
    asio::steady_timer timer(world.io, 1ms);
    co_await (asking.request("m", "{}", 60s) || timer.async_wait(asio::use_awaitable));
  }(gateway, *client));
  client->drop();
}

TEST(Client, ItsEndCallsNobodyButWakesWhoWaits) {
  FakeGateway gateway(each([](net::WebSocket&, const std::string&) {}));
  auto client = gateway.connect();
  client->ask("m", "{}", 5s, [](const Answer&) { ADD_FAILURE(); });
  client->on_lost([](const std::string&) { ADD_FAILURE(); });
  std::string error;
  asio::co_spawn(gateway.io, client->request("m", "{}", 60s),
                 [&](const std::exception_ptr& failure, const std::string&) {
                   try {
                     std::rethrow_exception(failure);
                   } catch (const Error& thrown) {
                     error = thrown.what();
                   }
                 });
  asio::post(gateway.io, [&] { client.reset(); });
  gateway.run_until([&] { return !error.empty() && !gateway.closes.empty(); });
  EXPECT_EQ(error, "the connection was dropped");
}

TEST(Client, MayOutliveTheLoopsLastTurn) {
  auto gateway = std::make_unique<FakeGateway>(each([](net::WebSocket&, const std::string&) {}));
  auto client = gateway->connect();
  client->ask("m", "{}", 5s, [](const Answer&) { ADD_FAILURE(); });
  client.reset();
  gateway.reset();
}

}  // namespace
}  // namespace tare::lab_gateway
