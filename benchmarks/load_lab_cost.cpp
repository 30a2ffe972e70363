#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "gateway_bench.hpp"

namespace tare::benchmarks {
namespace {

Measurement measure_lab_cost() {
  const GatewayBenchRun run = run_gateway_bench({"--runs", "3"});
  const std::vector<double>& shares = run.lab_core_percent;
  Measurement measurement = largest_share({
      {"CPU of the lab", std::ranges::max(shares), " % of a core", {{}, 3}, {}},
      {"its peak RSS", run.lab_peak_mb, " MB", {{}, 40}, {}},
  });
  const report::Metric& probes = run.metric("sessions_list", "total");
  measurement.note += fmt::format("; the worst of {} loads of 8 turns and {} rounds of probes in all",
                                  shares.size(), text::count(probes.samples.size()));
  return measurement;
}

}  // namespace

Benchmark load_lab_cost() {
  return {{"load.lab_cost",
           "what the lab itself takes at the default load of tare gateway: the largest share of its limit",
           "%",
           Judged::time,
           {{}, 100}},
          measure_lab_cost};
}

}  // namespace tare::benchmarks
