#include "import_lanes.hpp"

namespace tare::benchmarks {
namespace {

Measurement measure_cold_local() {
  return measure_pair({.ours = {"guest", "cold-local-import"},
                       .theirs = {"node", "cold-local-import"},
                       .metric = "guest_execution",
                       .rounds = {.fewest = 60, .most = 300, .limit = std::chrono::seconds(30)}});
}

Measurement measure_warm_local() {
  return measure_pair({.ours = {"guest", "warm-local-import"},
                       .theirs = {"guest", "cold-local-import"},
                       .metric = "guest_execution",
                       .rounds = {.fewest = 200, .most = 1000, .limit = std::chrono::seconds(30)}});
}

}  // namespace

Benchmark import_cold_local() {
  return {{"import.cold_local",
           "import of 24 modules p50, nothing kept, in a guest, against host Node",
           "ms",
           Judged::ratio,
           {{}, 1.0}},
          measure_cold_local};
}

Benchmark import_warm_local() {
  return {{"import.warm_local",
           "import of 24 modules p50 in a guest with their code kept, against without",
           "ms",
           Judged::ratio,
           {{}, 0.5}},
          measure_warm_local};
}

}  // namespace tare::benchmarks
