#include <gtest/gtest.h>

#include "lab/bench/gateway/probes.hpp"
#include "lab/gateway/fake_gateway_for_tests.hpp"

namespace tare::gateway_bench {
namespace {

using lab_gateway::FakeGateway;
using lab_gateway::member;

/// A gateway that keeps what it is asked until it is told to answer.
struct ProbesWorld {
  ProbesWorld()
      : gateway([this](net::WebSocket& socket) -> boost::asio::awaitable<void> { co_await serve(socket); }),
        wakeup(gateway.io),
        sampler(gateway.connect()),
        client(gateway.connect()),
        http(gateway.io, net::Url("http", "127.0.0.1", gateway.server.port(), "/")) {
    options.cadence_ms = 0.1;
    options.concurrency = 1;
    crew.sampler = sampler.get();
    crew.http = &http;
    crew.address = gateway.address();
  }
  ~ProbesWorld() {
    if (probes) probes->give_up();
  }

  boost::asio::awaitable<void> serve(net::WebSocket& socket) {
    co_await lab_gateway::greet(socket);
    for (;;) {
      const std::string heard = co_await lab_gateway::hear(socket);
      if (answers) {
        lab_gateway::respond(socket, heard, R"({"key":"k"})");
      } else if (member(heard, "method") == R"("sessions.patch")") {
        kept.push_back(heard);
        asker = &socket;
      }
    }
  }
  void begin() { probes.emplace(gateway.io, options, crew, wakeup).begin(); }
  std::uint64_t unsent(Probe probe) const { return probes->series(probe).unsent_starts(); }

  Options options;
  bool answers = false;
  std::vector<std::string> kept;
  net::WebSocket* asker = nullptr;
  FakeGateway gateway;
  Wakeup wakeup;
  std::shared_ptr<lab_gateway::Client> sampler;
  std::shared_ptr<lab_gateway::Client> client;
  load::HttpRequests http;
  ProbeCrew crew;
  std::optional<Probes> probes;
};

TEST(ProbesLimits, AGatewayThatStandsStillHoldsNoRequestsWithoutEnd) {
  ProbesWorld world;
  world.options.subscribers = 1;
  world.crew.subscriber = world.client.get();
  world.begin();
  world.gateway.run_until([&] { return world.unsent(Probe::messages_subscribe) > 100; });
  EXPECT_LE(world.client->open(), 4'097U);
  EXPECT_LE(world.sampler->open(), 4'096U);
}

TEST(ProbesLimits, APatchThatIsLeftOutIsMadeLater) {
  ProbesWorld world;
  world.options.session_updates = 4'200;
  world.options.probe_rounds = 1;
  world.crew.updates = {world.client.get()};
  world.begin();
  world.gateway.run_until(
      [&] { return world.unsent(Probe::sessions_patch) > 200 && world.kept.size() == 4'096; });
  EXPECT_FALSE(world.probes->updates_done());
  world.answers = true;
  for (const std::string& heard : world.kept) lab_gateway::respond(*world.asker, heard, R"({"key":"k"})");
  world.gateway.run_until([&] { return world.probes->updates_done(); });
  EXPECT_EQ(world.probes->series(Probe::sessions_patch).count(load::Outcome::ok), 4'200U);
}

TEST(ProbesLimits, WhatIsNoNumberOfAnEventLoopIsNoReading) {
  ProbesWorld world;
  net::HttpServer server(world.gateway.io, "127.0.0.1", 0, {},
                         [](net::Exchange& exchange) -> boost::asio::awaitable<void> {
                           net::Response response(200, {},
                                                  R"({"ready":true,"eventLoop":{"delayP99Ms":1e400,)"
                                                  R"("delayMaxMs":1e300,"utilization":0.5,"x":[]}})");
                           co_await exchange.respond(std::move(response));
                         });
  load::HttpRequests http(world.gateway.io, net::Url("http", "127.0.0.1", server.port(), "/"));
  world.crew.http = &http;
  world.options.probe_rounds = 1;
  world.begin();
  world.gateway.run_until([&] { return !world.probes->event_loop().empty(); });
  const EventLoopReading& reading = world.probes->event_loop().front();
  EXPECT_EQ(reading.delay_p99_ms, std::nullopt);
  EXPECT_EQ(reading.delay_max_ms, std::nullopt);
  EXPECT_EQ(reading.utilization, 0.5);
  world.probes->give_up();
}

}  // namespace
}  // namespace tare::gateway_bench
