#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "gateway_load.hpp"
#include "net/http_client.hpp"
#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

namespace asio = boost::asio;

constexpr std::size_t many_sessions = 10'000;

/// From before its process is started until /readyz has said that it is ready.
double gateway_start_ms(GatewayWorld& world, const std::string& state) {
  const SystemClock clock;
  const Instant begin = clock.now();
  world.start_gateway(state);
  Instant end;
  world.run([](GatewayWorld& its_world, Instant& ready) -> asio::awaitable<void> {
    net::HttpClient http(its_world.io(), {"http", "127.0.0.1", its_world.gateway().port(), "/"}, {});
    const net::Response response = co_await http.request(net::Request("GET", "/readyz"));
    ready = SystemClock().now();
    if (response.status != 200 || response.body.find(R"("ready":true)") == std::string::npos)
      throw Broken("the gateway says that it serves, and is not ready", response.body);
  }(world, end));
  return to_ms(end - begin);
}

std::uint64_t count_sessions(GatewayWorld& world) {
  const auto client = world.connect();
  json::Value listed;
  bool done = false;
  client->ask("sessions.list", R"({"limit":1})", [&](std::string_view frame, Instant) {
    listed = json::parse(frame, "sessions.list");
    done = true;
  });
  world.run_until([&] { return done; });
  return listed.at("payload").at("totalCount").to_number<std::uint64_t>();
}

Measurement measure_gateway_start() {
  GatewayWorld world;
  world.start_gateway("full");
  seed_sessions(world, *world.connect(), 0, many_sessions, 2);
  world.stop_gateway();
  std::size_t fresh = 0;
  auto figures = interleave({[&] {
                               const double ms = gateway_start_ms(world, fmt::format("fresh-{}", fresh++));
                               world.stop_gateway();
                               return ms;
                             },
                             [&] {
                               const double ms = gateway_start_ms(world, "full");
                               if (count_sessions(world) != many_sessions)
                                 throw Broken("sessions are missing after a start");
                               world.stop_gateway();
                               return ms;
                             }},
                            {.fewest = 10, .most = 40, .limit = std::chrono::seconds(20)});
  world.start_gateway("full");
  world.finish();
  const std::string note = fmt::format("p50 of {} starts", figures[0].size());
  std::vector<GatewayPart> parts{{"empty", alone(std::move(figures[0])), 60.0},
                                 {"with 10,000 sessions", alone(std::move(figures[1])), 300.0}};
  for (GatewayPart& part : parts) part.measurement.note = note;
  return worst_of(parts, "ms");
}

}  // namespace

Benchmark gateway_start() {
  return {{"gateway.start",
           "from the gateway's start until it is ready, empty and with 10,000 sessions",
           "ms",
           Judged::time,
           {{}, 60.0}},
          measure_gateway_start};
}

}  // namespace tare::benchmarks
