#include <fmt/format.h>

#include "base/text.hpp"
#include "guest_lanes.hpp"
#include "lab/measure/summary.hpp"
#include "registry_worker.hpp"
#include "runtime/guest_driver/scripts.hpp"

namespace tare::benchmarks {
namespace {

/// From nothing until the first guest has ended. The end of the engine is not in it.
double start_ms() {
  const SystemClock clock;
  const Instant begin = clock.now();
  Guests guests;
  guest::Execution first = guests.start(guest_driver::exit_script);
  expect_success(first);
  const Instant end = clock.now();
  if (guests.engine().stop().forced) throw Broken("the engine did not leave by itself");
  return static_cast<double>((end - begin).count()) / 1e6;
}

/// The engine's process is one of Node: no engine starts faster than that.
Measurement measure_start() {
  SpawnLane node("native", "node_exit_1");
  start_ms();  // makes what the cache did not have
  node.total_ms();
  auto figures = interleave({start_ms, [&] { return node.total_ms(); }},
                            {.fewest = 20, .most = 100, .limit = std::chrono::seconds(20)});
  const std::size_t starts = figures[0].size();
  Measurement measurement = alone(std::move(figures[0]));
  measurement.floor = measure::summarise(std::move(figures[1])).p50.value();
  measurement.note = fmt::format("p50 of {} starts; a process of host Node, in turns, took {} ms", starts,
                                 text::significant(*measurement.floor));
  return measurement;
}

}  // namespace

Benchmark guest_engine_start() {
  return {{"guest.engine_start",
           "from the engine's start to the first guest's exit, with the snapshot in the cache",
           "ms",
           Judged::time,
           {{}, 60.0}},
          measure_start};
}

}  // namespace tare::benchmarks
