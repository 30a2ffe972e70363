#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

/// As many that Node's compiler has seen all it wants to see.
constexpr Shape warm{.warmup = 500, .samples = 100};

/// A worker of `tare agents` lives for eleven samples, in which Node is not warm yet. What is left of the
/// distance when both are stands in the note.
Measurement measure_spawn() {
  const std::string row = "spawnPipelineInMemory_64";
  Registry embedded("embedded");
  Registry node("node");
  const auto figures = interleave(
      {[&] { return embedded.median_ns(row) / 1e3; }, [&] { return node.median_ns(row) / 1e3; },
       [&] { return embedded.median_ns(row, warm) / 1e3; }, [&] { return node.median_ns(row, warm) / 1e3; }},
      {});
  Measurement measurement = compared(figures[0], figures[1]);
  measurement.note +=
      "; " + beside("both after 500 warm-ups, against Node", compared(figures[2], figures[3]), "µs");
  return measurement;
}

}  // namespace

Benchmark agents_spawn_memory() {
  return {{"agents.spawn_memory",
           "spawnPipelineInMemory_64, against the registry in Node",
           "µs",
           Judged::ratio,
           {{}, 0.1}},
          measure_spawn};
}

}  // namespace tare::benchmarks
