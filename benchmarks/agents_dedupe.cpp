#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

Measurement measure_dedupe() {
  Registry embedded("embedded");
  return alone(interleave({[&] { return embedded.median_ns("duplicateSuppression_512") / 1e3; }},
                          {.fewest = 10, .most = 60, .limit = std::chrono::seconds(8)})
                   .front());
}

Measurement measure_growth() {
  return growth_per_row("dedupeScale");
}

}  // namespace

Benchmark agents_dedupe() {
  return {{"agents.dedupe",
           "duplicateSuppression_512: the newest of 512 × 3 runs, in both orders",
           "µs",
           Judged::time,
           {{}, 200.0}},
          measure_dedupe};
}

Benchmark agents_dedupe_scale() {
  return {{"agents.dedupe_scale",
           "both dedupes' cost per row: of a million rows, against a thousand",
           "ns",
           Judged::ratio,
           {{}, 8.0}},
          measure_growth};
}

}  // namespace tare::benchmarks
