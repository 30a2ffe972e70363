#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include "gateway_load.hpp"

namespace tare::benchmarks {
namespace {

namespace asio = boost::asio;

constexpr auto ready_rest = std::chrono::seconds(1);
constexpr std::size_t idle_connections = 10'000;
constexpr std::size_t other_descriptors = 200;
constexpr std::size_t dialers = 32;

/// The peak while so many sessions stream, each through two whole turns at least.
double streaming_peak_mb(std::size_t sessions, Nanoseconds delay) {
  const std::string delay_ms =
      std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(delay).count());
  GatewayWorld world(
      {.max_concurrent = sessions, .provider = {"--chunk-delay-ms", delay_ms, "--chunks", "8"}});
  world.start_gateway();
  const auto client = world.connect();
  Turns turns(world, *client, {.sessions = sessions, .delay = delay});
  turns.begin();
  if (turns.running() != sessions) throw Broken("not all sessions streamed at once");
  world.run_until([&] { return turns.ended() >= 2 * sessions; });
  turns.end();
  const double peak = world.gateway().peak_rss_mb();
  world.finish();
  return peak;
}

double ready_mb() {
  GatewayWorld world;
  world.start_gateway();
  world.run_for(ready_rest);
  const double rss = world.gateway().rss_mb();
  world.finish();
  return rss;
}

Measurement in_mb(double figure) {
  Measurement measurement;
  measurement.measured = figure;
  return measurement;
}

Measurement measure_gateway_rss() {
  return worst_of(
      {{"ready", in_mb(ready_mb()), 25.0},
       {"peak of 8 streaming sessions", in_mb(streaming_peak_mb(8, std::chrono::milliseconds(100))), 40.0},
       {"peak of 1,000", in_mb(streaming_peak_mb(1000, std::chrono::milliseconds(500))), 200.0}},
      "MB");
}

asio::awaitable<void> dial_some(GatewayWorld& world, std::vector<std::shared_ptr<GatewayClient>>& clients,
                                std::size_t most) {
  while (clients.size() < most) {
    clients.push_back(nullptr);  // its place, so that none is dialled too many
    const std::size_t place = clients.size() - 1;
    auto client = co_await world.dial();
    clients[place] = std::move(client);
  }
}

/// Throws Error(unavailable) where a process, this one and the gateway, may not have that many.
void expect_descriptors(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= wanted) return;
  throw Error(
      ErrorCode::unavailable,
      fmt::format("a process may have {} descriptors here, fewer than the connections", limit.rlim_cur), "",
      fmt::format("ulimit -n {}", wanted));
}

/// Connections that have shaken hands and say no more. This process has as many descriptors as the gateway.
Measurement measure_gateway_idle() {
  expect_descriptors(idle_connections + other_descriptors);
  GatewayWorld world;
  world.start_gateway();
  const double before = world.gateway().rss_mb();
  std::vector<std::shared_ptr<GatewayClient>> clients;
  clients.reserve(idle_connections);
  std::size_t done = 0;
  for (std::size_t i = 0; i < dialers; ++i) {
    asio::co_spawn(world.io(), dial_some(world, clients, idle_connections),
                   [&](const std::exception_ptr& failure) {
                     ++done;
                     if (failure) world.fail(failure);
                   });
  }
  world.run_until([&] { return done == dialers; });
  world.run_for(ready_rest);
  // One more is served as ever, and a turn reaches all of them.
  std::size_t reached = 0;
  for (const auto& client : clients) {
    client->on_event([&](std::string_view frame, Instant) {
      if (frame.find(R"("state":"final")") != std::string_view::npos) ++reached;
    });
  }
  const double idle = world.gateway().rss_mb();
  const auto client = world.connect();
  Turns turns(world, *client, {.sessions = 1});
  turns.begin();
  turns.end();
  const std::uint64_t turned = turns.ended();
  world.run_until([&] { return reached == idle_connections * turned; });
  world.finish();
  Measurement measurement = in_mb(idle);
  measurement.note =
      fmt::format("{} connections that have shaken hands; {:.1f} MB without them", clients.size(), before);
  return measurement;
}

}  // namespace

Benchmark gateway_rss() {
  return {{"gateway.rss",
           "the gateway's memory when it is ready, and while 8 and 1,000 sessions stream",
           "MB",
           Judged::size,
           {{}, 25.0}},
          measure_gateway_rss};
}

Benchmark gateway_idle() {
  return {{"gateway.idle",
           "the gateway's memory with 10,000 connections that say nothing",
           "MB",
           Judged::size,
           {{}, 200.0}},
          measure_gateway_idle};
}

}  // namespace tare::benchmarks
