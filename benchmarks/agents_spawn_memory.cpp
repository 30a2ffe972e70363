#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

Measurement measure_spawn() {
  Registry embedded("embedded");
  Registry node("node");
  const std::string row = "spawnPipelineInMemory_64";
  const auto figures = interleave(
      {[&] { return embedded.median_ns(row) / 1e3; }, [&] { return node.median_ns(row) / 1e3; }}, {});
  return compared(figures[0], figures[1]);
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
