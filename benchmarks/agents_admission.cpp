#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

Measurement measure_admission() {
  Registry embedded("embedded");
  return alone(interleave({[&] { return embedded.median_ns("admission_64") / 1e3; }},
                          {.fewest = 10, .most = 60, .limit = std::chrono::seconds(5)})
                   .front());
}

}  // namespace

Benchmark agents_admission() {
  return {{"agents.admission",
           "admission_64: 64 slots, one too many, all given back, one taken again",
           "µs",
           Judged::time,
           {{}, 30.0}},
          measure_admission};
}

}  // namespace tare::benchmarks
