#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

Measurement measure_sweep() {
  Registry embedded("embedded");
  return alone(interleave({[&] { return embedded.median_ns("recoverySweep_512") / 1e6; }},
                          {.fewest = 10, .most = 60, .limit = std::chrono::seconds(8)})
                   .front());
}

Measurement measure_sweep_growth() {
  return growth_per_row("sweepScale");
}

}  // namespace

Benchmark agents_sweep() {
  return {{"agents.sweep",
           "recoverySweep_512: one sweep over 512 children of three generations, in memory",
           "ms",
           Judged::time,
           {{}, 1.0}},
          measure_sweep};
}

Benchmark agents_sweep_scale() {
  return {{"agents.sweep_scale",
           "a sweep's cost per row: of a million rows, against a thousand",
           "ns",
           Judged::ratio,
           {{}, 8.0}},
          measure_sweep_growth};
}

}  // namespace tare::benchmarks
