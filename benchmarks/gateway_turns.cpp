#include <fmt/format.h>

#include "gateway_load.hpp"
#include "peer.hpp"
#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

constexpr auto turns_warmup = std::chrono::seconds(1);

/// 8 sessions whose replies come at once: what the gateway, the model server and the client do together.
Measurement measure_gateway_turns() {
  GatewayWorld world;
  world.start_gateway();
  const auto client = world.connect();
  Turns turns(world, *client, {.sessions = 8});
  turns.begin();
  world.run_for(turns_warmup);
  std::vector<double> rates;
  repeat(10, 10, {}, [&](std::size_t) {
    const SystemClock clock;
    const Instant begin = clock.now();
    const std::uint64_t before = turns.ended();
    world.run_for(std::chrono::seconds(1));
    rates.push_back(static_cast<double>(turns.ended() - before) * 1e3 / to_ms(clock.now() - begin));
  });
  turns.end();
  world.finish();
  Measurement measurement = alone(std::move(rates));
  measurement.note = fmt::format("median of 10 seconds; {} turns, each reply compared", turns.ended());
  return measurement;
}

/// Chunks come one by one, so that each is a delta of its own.
Measurement measure_gateway_cpu() {
  GatewayWorld world({.provider = {"--chunk-delay-ms", "10"}});
  world.start_gateway();
  const auto client = world.connect();
  Turns turns(world, *client, {.sessions = 8, .delay = std::chrono::milliseconds(10)});
  turns.begin();
  world.run_for(turns_warmup);
  std::vector<double> ms;
  repeat(10, 10, {}, [&](std::size_t) {
    const Nanoseconds before = world.gateway().cpu();
    const std::uint64_t ended = turns.ended();
    world.run_for(std::chrono::seconds(1));
    ms.push_back(to_ms(world.gateway().cpu() - before) / static_cast<double>(turns.ended() - ended));
  });
  turns.end();
  world.finish();
  Measurement measurement = alone(std::move(ms));
  measurement.note = fmt::format("median of 10 seconds; {} turns in all", turns.ended());
  return measurement;
}

}  // namespace

Benchmark gateway_turns() {
  return {{"gateway.turns",
           "turns of 8 sessions whose chunks come without delay",
           "/s",
           Judged::rate,
           {1000.0, {}}},
          measure_gateway_turns};
}

Benchmark gateway_cpu() {
  return {
      {"gateway.cpu", "the gateway's processor time for a turn of 8 chunks", "ms", Judged::time, {{}, 0.6}},
      measure_gateway_cpu};
}

}  // namespace tare::benchmarks
