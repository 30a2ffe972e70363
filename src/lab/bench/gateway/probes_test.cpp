#include "lab/bench/gateway/probes.hpp"

#include <map>
#include <set>

#include <boost/asio/steady_timer.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "lab/gateway/fake_gateway_for_tests.hpp"

namespace tare::gateway_bench {
namespace {

using lab_gateway::FakeGateway;
using lab_gateway::hear;
using lab_gateway::member;
using lab_gateway::refuse;
using lab_gateway::respond;
using load::Outcome;
using testing::ElementsAre;
namespace asio = boost::asio;
using namespace std::chrono_literals;

/// An answer to every method that is probed.
constexpr std::string_view all_members =
    R"({"sessions":[],"messages":[],"subscribed":true,"key":"k","tasks":[],"jobs":[],"enabled":true})";
constexpr const char* a_page = "<!doctype html><html></html>";

std::string param(std::string_view heard, std::string_view name) {
  return lab_gateway::text_of(member(heard, fmt::format("params.{}", name))).value_or("");
}

/// A gateway of both protocols, the clients of a run, and its probes. By default it answers all well.
struct Probed {
  using Answer = std::function<asio::awaitable<void>(net::WebSocket&, const std::string&)>;
  static asio::awaitable<void> well(net::WebSocket& socket, const std::string& heard) {
    respond(socket, heard, all_members);
    co_return;
  }

  explicit Probed(Options wish, Answer its_answer = well)
      : options(std::move(wish)),
        answer(std::move(its_answer)),
        gateway([this](net::WebSocket& socket) { return serve(socket); }),
        pages(gateway.io, "127.0.0.1", 0, {}, [this](net::Exchange& exchange) { return page(exchange); }),
        http(gateway.io, net::Url("http", "127.0.0.1", pages.port(), "/")),
        wakeup(gateway.io),
        sampler(gateway.connect()) {
    ProbeCrew crew;
    crew.sampler = sampler.get();
    if (options.subscribers > 0) crew.subscriber = join(others);
    for (std::uint64_t i = 0; i < options.history_clients; ++i) crew.history.push_back(join(others));
    for (std::uint64_t i = 0; options.session_updates > 0 && i < options.session_update_clients; ++i)
      crew.updates.push_back(join(others));
    crew.http = &http;
    crew.address = gateway.address();
    probes.emplace(gateway.io, options, std::move(crew), wakeup);
  }

  lab_gateway::Client* join(std::vector<std::shared_ptr<lab_gateway::Client>>& group) {
    return group.emplace_back(gateway.connect()).get();
  }
  asio::awaitable<void> serve(net::WebSocket& socket) {
    if (!is_greeting) co_return;
    co_await lab_gateway::greet(socket);
    std::vector<std::string>& heard_here = heard[connections++];
    for (;;) {
      heard_here.push_back(co_await hear(socket));
      const std::string text = heard_here.back();
      co_await answer(socket, text);
    }
  }
  asio::awaitable<void> page(net::Exchange& exchange) {
    const bool is_ready = exchange.request().target == "/readyz";
    net::Response response(200);
    response.body = is_ready ? readiness : a_page;
    co_await exchange.respond(std::move(response));
  }
  /// A run whose work ends when its rounds do.
  void run_rounds() {
    probes->begin();
    gateway.run_until([this] { return probes->rounds_done() && probes->open() == 0; });
  }
  /// Of all requests for a method, over all connections, one parameter.
  std::vector<std::string> asked(std::string_view method, std::string_view name) const {
    std::vector<std::string> found;
    for (const auto& [connection, texts] : heard) {
      for (const std::string& text : texts) {
        if (lab_gateway::text_of(member(text, "method")) == method) found.push_back(param(text, name));
      }
    }
    return found;
  }
  const load::Series& of(Probe probe) const { return probes->series(probe); }

  Options options;
  Answer answer;
  std::string readiness = R"({"ready":true})";
  bool is_greeting = true;
  int connections = 0;
  std::map<int, std::vector<std::string>> heard;
  FakeGateway gateway;
  net::HttpServer pages;
  load::HttpRequests http;
  Wakeup wakeup;
  std::shared_ptr<lab_gateway::Client> sampler;
  std::vector<std::shared_ptr<lab_gateway::Client>> others;
  std::optional<Probes> probes;
};

/// Two sessions have turns, of five.
Options wish() {
  Options options;
  options.concurrency = 2;
  options.session_count = 5;
  options.cadence_ms = 0.1;
  return options;
}

std::string session(int number) {
  return fmt::format("agent:main:gateway-concurrency-{}", number);
}

/// Answers all but this method, which it refuses.
Probed::Answer refusing(std::string method) {
  return [method](net::WebSocket& socket, const std::string& heard) -> asio::awaitable<void> {
    if (lab_gateway::text_of(member(heard, "method")) == method) {
      refuse(socket, heard, R"({"message":"no"})");
    } else {
      respond(socket, heard, all_members);
    }
    co_return;
  };
}

/// Answers a request once its time has come, one after another.
asio::awaitable<void> slowly(net::WebSocket& socket, const std::string& heard) {
  asio::steady_timer timer(co_await asio::this_coro::executor, 2ms);
  co_await timer.async_wait(asio::use_awaitable);
  respond(socket, heard, all_members);
}

TEST(Probes, EachRoundAsksEachKindOnce) {
  Options options = wish();
  options.probe_rounds = 3;
  options.control_plane = true;
  options.subscribers = 1;
  Probed run(options);
  run.run_rounds();
  for (const Probe probe : {Probe::readyz, Probe::control_ui, Probe::sessions_list, Probe::messages_subscribe,
                            Probe::tasks_list, Probe::cron_list, Probe::cron_status}) {
    EXPECT_EQ(run.of(probe).due_starts(), 3U) << row_of(probe);
    EXPECT_EQ(run.of(probe).count(Outcome::ok), 3U) << row_of(probe);
    for (const report::Invariant& one : run.probes->checks(probe).all()) EXPECT_TRUE(one.ok) << one.id;
  }
  EXPECT_EQ(run.of(Probe::chat_history).due_starts(), 0U);
  EXPECT_EQ(run.probes->failure(), std::nullopt);
}

TEST(Probes, SubscriptionsAreToTheNewestSessionsInTurnAndEndAgain) {
  Options options = wish();
  options.probe_rounds = 3;
  options.subscribers = 1;
  Probed run(options);
  run.run_rounds();
  run.gateway.run_until([&] { return run.asked("sessions.messages.unsubscribe", "key").size() == 3; });
  EXPECT_THAT(run.asked("sessions.messages.subscribe", "key"),
              ElementsAre(session(4), session(5), session(4)));
  EXPECT_THAT(run.asked("sessions.messages.unsubscribe", "key"),
              ElementsAre(session(4), session(5), session(4)));
}

TEST(Probes, HistoriesSpanAllSessions) {
  Options options = wish();
  options.probe_rounds = 2;
  options.history_clients = 2;
  options.history_burst = 3;
  Probed run(options);
  run.run_rounds();
  EXPECT_THAT(run.asked("chat.history", "sessionKey"),
              ElementsAre(session(1), session(2), session(3), session(4), session(5), session(1),    // of one
                          session(4), session(5), session(1), session(2), session(3), session(4)));  // client
  EXPECT_EQ(run.of(Probe::chat_history).count(Outcome::ok), 12U);
}

TEST(Probes, PatchesSpanAllSessionsAndAreSoMany) {
  Options options = wish();
  options.session_updates = 7;
  options.session_update_clients = 1;
  Probed run(options);
  run.probes->begin();
  run.gateway.run_until([&] { return run.probes->updates_done(); });
  EXPECT_THAT(run.asked("sessions.patch", "key"), ElementsAre(session(1), session(2), session(3), session(4),
                                                              session(5), session(1), session(2)));
  EXPECT_EQ(run.asked("sessions.patch", "label").back(), "Benchmark update 7");
  EXPECT_EQ(run.of(Probe::sessions_patch).due_starts(), 7U);
}

TEST(Probes, AnOpenLoopDoesNotWaitForAnswersAndAClosedOneDoes) {
  for (const bool closed : {false, true}) {
    Options options = wish();
    options.probe_rounds = 20;
    options.closed_loop = closed;
    std::size_t most = 0;
    Probed* world = nullptr;
    Probed run(options, [&](net::WebSocket& socket, const std::string& heard) -> asio::awaitable<void> {
      most = std::max(most, world->sampler->open());
      return slowly(socket, heard);
    });
    world = &run;
    run.run_rounds();
    EXPECT_EQ(run.of(Probe::sessions_list).count(Outcome::ok), 20U);
    EXPECT_EQ(most == 1, closed) << most;
  }
}

TEST(Probes, LatencyCountsFromTheScheduleInAnOpenLoop) {
  Options options = wish();
  options.probe_rounds = 5;
  Probed run(options, slowly);
  run.run_rounds();
  const std::vector<load::Sample>& samples = run.of(Probe::sessions_list).samples();
  for (std::size_t i = 1; i < samples.size(); ++i)
    EXPECT_EQ(samples[i].due - samples[i - 1].due, std::chrono::microseconds(100));
  EXPECT_GT(samples.back().latency(), 4 * 2ms);  // it stood behind four others
}

TEST(Probes, TheyEndWithTheWorkUnlessTheirNumberIsFixed) {
  for (const bool fixed : {false, true}) {
    Options options = wish();
    if (fixed) options.probe_rounds = 8;
    Probed run(options);
    run.probes->begin();
    run.gateway.run_until([&] { return run.of(Probe::readyz).due_starts() > 0; });
    run.probes->wind_down();
    EXPECT_EQ(run.probes->rounds_done(), !fixed);
    if (!fixed) continue;
    run.gateway.run_until([&] { return run.probes->rounds_done(); });
    EXPECT_EQ(run.of(Probe::readyz).due_starts(), 8U);
  }
}

TEST(Probes, WhatIsGivenUpIsCensored) {
  Options options = wish();
  options.probe_rounds = 4;
  Probed run(options, [](net::WebSocket&, const std::string&) -> asio::awaitable<void> { co_return; });
  run.is_greeting = false;
  run.probes->begin();
  run.probes->begin_fresh_connections();
  run.gateway.run_until([&] { return run.probes->rounds_done() && run.gateway.connections == 2; });
  run.probes->stop();
  run.probes->give_up();
  EXPECT_EQ(run.of(Probe::sessions_list).count(Outcome::censored), 4U);
  EXPECT_EQ(run.of(Probe::fresh_connection).count(Outcome::censored), 1U);
  EXPECT_TRUE(run.probes->checks(Probe::sessions_list).all().empty()) << "no answer was looked at";
  EXPECT_EQ(run.probes->open(), 0U);
  for (const Probe probe : probes_of(options)) {
    EXPECT_EQ(run.of(probe).ended() + run.of(probe).unsent_starts(), run.of(probe).due_starts())
        << row_of(probe);
  }
}

TEST(Probes, AFreshConnectionIsMadeAtOnce) {
  Probed run(wish());
  run.probes->begin_fresh_connections();
  run.gateway.run_until([&] { return run.of(Probe::fresh_connection).ended() == 1; });
  EXPECT_EQ(run.of(Probe::fresh_connection).count(Outcome::ok), 1U);
  run.probes->stop();
}

TEST(Probes, AFreshConnectionThatIsRefusedHasFailed) {
  Probed run(wish());
  run.gateway.server.stop();
  run.probes->begin_fresh_connections();
  run.gateway.run_until([&] { return run.of(Probe::fresh_connection).ended() == 1; });
  EXPECT_EQ(run.of(Probe::fresh_connection).count(Outcome::failed), 1U);
  EXPECT_EQ(run.probes->failure(), std::nullopt);
  run.probes->stop();
}

TEST(Probes, ARefusalIsAFailedSampleAndNoWrongAnswer) {
  Options options = wish();
  options.probe_rounds = 2;
  Probed run(options, refusing("sessions.list"));
  run.run_rounds();
  const load::Series& lists = run.of(Probe::sessions_list);
  EXPECT_EQ(lists.count(Outcome::failed), 2U);
  EXPECT_EQ(lists.samples().front().error, "sessions.list failed: no");
  EXPECT_TRUE(run.probes->checks(Probe::sessions_list).all().front().ok);
  EXPECT_EQ(run.probes->failure(), std::nullopt);
}

TEST(Probes, AnAnswerToSomethingElseIsWrong) {
  Options options = wish();
  options.probe_rounds = 2;
  Probed run(options, [](net::WebSocket& socket, const std::string& heard) -> asio::awaitable<void> {
    respond(socket, heard, R"({"items":[]})");
    co_return;
  });
  run.readiness = a_page;  // as for a path that it does not know
  run.run_rounds();
  for (const Probe probe : {Probe::sessions_list, Probe::readyz}) {
    const report::Invariant& right = run.probes->checks(probe).all().front();
    EXPECT_EQ(right.id, "right_answer");
    EXPECT_EQ(right.broken, 2U);
    EXPECT_EQ(run.of(probe).count(Outcome::failed), 2U);
  }
}

TEST(Probes, APatchThatFailsEndsTheRun) {
  Options options = wish();
  options.session_updates = 3;
  Probed run(options, refusing("sessions.patch"));
  run.probes->begin();
  run.gateway.run_until([&] { return run.probes->failure().has_value(); });
  EXPECT_EQ(run.probes->failure(), "a load probe failed: sessions.patch failed: no");
}

TEST(Probes, ASubscriptionThatDoesNotEndEndsTheRun) {
  Options options = wish();
  options.probe_rounds = 1;
  options.subscribers = 1;
  Probed run(options, refusing("sessions.messages.unsubscribe"));
  run.probes->begin();
  run.gateway.run_until([&] { return run.probes->failure().has_value(); });
  EXPECT_EQ(run.probes->failure(), "a load probe failed: sessions.messages.unsubscribe failed: no");
}

TEST(Probes, ASubscriptionThatFailsIsASampleAndHasNoEnd) {
  Options options = wish();
  options.probe_rounds = 2;
  options.subscribers = 1;
  Probed run(options, refusing("sessions.messages.subscribe"));
  run.run_rounds();
  EXPECT_EQ(run.of(Probe::messages_subscribe).count(Outcome::failed), 2U);
  EXPECT_TRUE(run.asked("sessions.messages.unsubscribe", "key").empty());
  EXPECT_EQ(run.probes->failure(), std::nullopt);
}

TEST(Probes, AnEventLoopThatSaysTheSameAgainIsNoReading) {
  Options options = wish();
  options.probe_rounds = 4;
  Probed run(options);
  run.readiness = R"({"ready":true,"eventLoop":{"degraded":true,"delayP99Ms":1.5,"utilization":0.25}})";
  run.run_rounds();
  EXPECT_EQ(run.probes->degraded(), 4U);
  ASSERT_EQ(run.probes->event_loop().size(), 1U);
  EXPECT_EQ(run.probes->event_loop().front().delay_p99_ms, 1.5);
  EXPECT_EQ(run.probes->event_loop().front().utilization, 0.25);
  EXPECT_EQ(run.probes->event_loop().front().cpu_core_ratio, std::nullopt);
}

load::HttpAnswer page(int status, std::string_view body) {
  load::HttpAnswer answer;
  answer.status = status;
  answer.body = body;
  return answer;
}

TEST(FaultOf, ReadinessIs200AndSaysSo) {
  EXPECT_FALSE(fault_of(Probe::readyz, page(200, R"({"ready":true})")));
  EXPECT_EQ(fault_of(Probe::readyz, page(503, R"({"ready":true})"))->text, "status 503");
  EXPECT_EQ(fault_of(Probe::readyz, page(503, ""))->kind, Fault::Kind::failed);
  EXPECT_EQ(fault_of(Probe::readyz, page(200, R"({"ready":false})"))->kind, Fault::Kind::wrong);
}

TEST(FaultOf, TheControlUiIs200AndAPage) {
  EXPECT_FALSE(fault_of(Probe::control_ui, page(200, "<html lang=\"en\">")));
  EXPECT_EQ(fault_of(Probe::control_ui, page(404, "<html>"))->kind, Fault::Kind::failed);
  EXPECT_EQ(fault_of(Probe::control_ui, page(200, "hello"))->text, "response body did not contain <html");
}

TEST(Limits, AreTheSeeds) {
  EXPECT_EQ(load::HttpLimits().time, 20s);
  EXPECT_EQ(load::HttpLimits().body_bytes, 1'048'576U);
  EXPECT_EQ(lab_gateway::handshake_limit, 8s);
  EXPECT_EQ(lab_gateway::rpc_limit, 65s);
  EXPECT_EQ(max_samples_per_run, 2'048U);
}

TEST(ProbesOf, ARunHasThoseThatItAsksFor) {
  Options options;
  EXPECT_THAT(probes_of(options),
              ElementsAre(Probe::readyz, Probe::control_ui, Probe::sessions_list, Probe::fresh_connection));
  options.control_plane = true;
  options.history_clients = options.subscribers = options.session_updates = 1;
  EXPECT_EQ(probes_of(options).size(), probe_count);
}

}  // namespace
}  // namespace tare::gateway_bench
