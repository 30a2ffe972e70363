#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

/// A restart is something that a process does once, so each worker gives one sample and is not warmed up. The
/// database takes longer to write than to open; then what it holds is in the system's cache.
Measurement measure_restart() {
  Registry embedded("embedded");
  return alone(interleave({[&] { return embedded.median_ns("restartScale_1000000", {0, 1}) / 1e9; }},
                          {.fewest = 2, .most = 5, .limit = std::chrono::seconds(25)})
                   .front());
}

}  // namespace

Benchmark agents_restart() {
  return {{"agents.restart",
           "restartScale_1000000: from opening a database of a million runs until all are restored",
           "s",
           Judged::time,
           {{}, 5.0}},
          measure_restart};
}

}  // namespace tare::benchmarks
