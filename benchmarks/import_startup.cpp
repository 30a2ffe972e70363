#include <utility>

#include <fmt/format.h>

#include "import_lanes.hpp"

namespace tare::benchmarks {
namespace {

Measurement measure_startup() {
  return measure_pair({.ours = {"guest", "isolate-startup"},
                       .theirs = {"node", "isolate-startup"},
                       .metric = "total",
                       .rounds = {.fewest = 60, .most = 300, .limit = std::chrono::seconds(30)}});
}

/// The driver waits before each sample until its pool is full again: what is made ready beside it is not
/// what a program waits for.
Measurement measure_prewarmed() {
  constexpr std::size_t prewarmed_warmup = 50;
  const driver::ImportWorkspace workspace;
  ImportRow row(workspace, "guest", "prewarmed-isolate-startup");
  for (std::size_t i = 0; i < prewarmed_warmup; ++i) row.sample();
  auto figures = interleave({[&] { return row.ms("total"); }},
                            {.fewest = 200, .most = 2000, .limit = std::chrono::seconds(20)});
  const std::size_t samples = figures[0].size();
  Measurement measurement = alone(std::move(figures[0]));
  measurement.note = fmt::format("p50 of {} samples, each once the pool is full", samples);
  return measurement;
}

}  // namespace

Benchmark import_isolate_startup() {
  return {{"import.isolate_startup",
           "isolate-startup p50: a context in a guest engine, against a process of host Node",
           "ms",
           Judged::ratio,
           {{}, 0.2}},
          measure_startup};
}

Benchmark import_prewarmed() {
  return {
      {"import.prewarmed", "prewarmed-isolate-startup p50, out of the pool", "ms", Judged::time, {{}, 1.0}},
      measure_prewarmed};
}

}  // namespace tare::benchmarks
