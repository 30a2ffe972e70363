#include <fmt/format.h>

#include "lab/driver/agents.hpp"
#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

constexpr double bytes_per_mb = 1024 * 1024;
constexpr std::int64_t size = 256;

/// Every row that has a size of 256: of the others, the crash has a size of its own, and those that scale
/// are as large as what they hold.
Measurement measure_rss() {
  Registry embedded("embedded");
  double largest = 0;
  std::string where;
  std::size_t rows = 0;
  for (const driver::AgentScenario& scenario : driver::agent_scenarios()) {
    if (scenario.sizes != driver::SizeList::fanout && scenario.sizes != driver::SizeList::sweep_rows)
      continue;
    const std::string row = fmt::format("{}_{}", scenario.name, size);
    const double peak = embedded.work(row).peak_bytes;
    ++rows;
    if (peak <= largest) continue;
    largest = peak;
    where = row;
  }
  return {largest / bytes_per_mb, {}, {}, {}, fmt::format("largest of {} rows: {}", rows, where), {}};
}

}  // namespace

Benchmark agents_rss() {
  return {{"agents.rss",
           "peak memory of a registry's worker, the largest of all rows with a size of 256",
           "MB",
           Judged::size,
           {{}, 30.0}},
          measure_rss};
}

}  // namespace tare::benchmarks
