#include "benchmark.hpp"

#include <exception>

#include "base/error.hpp"
#include "lab/measure/host.hpp"

namespace tare::benchmarks {

const std::vector<Benchmark>& all_benchmarks() {
  static const std::vector<Benchmark> all{spawn_native_overhead(),
                                          spawn_hyperfine_agreement(),
                                          spawn_large_parent(),
                                          spawn_agentos_driver_overhead(),
                                          verdict_aa(),
                                          verdict_power(),
                                          verdict_compare_1m(),
                                          lab_rss(),
                                          lab_summary_10m(),
                                          cli_help(),
                                          agents_spawn_memory(),
                                          agents_spawn_durable(),
                                          agents_spawn_durable_floor(),
                                          agents_admission(),
                                          agents_sweep(),
                                          agents_sweep_scale(),
                                          agents_dedupe(),
                                          agents_dedupe_scale(),
                                          agents_rss(),
                                          agents_durable_rate(),
                                          agents_restart(),
                                          guest_spawn_pooled(),
                                          guest_spawn_cold(),
                                          guest_fanout_32(),
                                          guest_nested_8(),
                                          guest_cpu(),
                                          guest_engine_start(),
                                          guest_memory(),
                                          guest_stdio_rate(),
                                          guest_stdio_roundtrip(),
                                          guest_sync_skip(),
                                          guest_fs_small(),
                                          guest_churn(),
                                          guest_trace_cost(),
                                          import_isolate_startup(),
                                          import_prewarmed(),
                                          import_cold_local(),
                                          import_warm_local(),
                                          import_builtin(),
                                          import_typescript(),
                                          import_typescript_cached(),
                                          import_transport(),
                                          gateway_start(),
                                          gateway_rss(),
                                          gateway_turns(),
                                          gateway_cpu(),
                                          gateway_sessions_list(),
                                          gateway_history(),
                                          gateway_handshake(),
                                          gateway_added_latency(),
                                          gateway_idle(),
                                          load_timing(),
                                          load_http(),
                                          load_known_answer(),
                                          load_websocket(),
                                          load_websocket_cpu(),
                                          load_lab_cost(),
                                          load_sessions_10k(),
                                          gateway_against_openclaw()};
  return all;
}

Result run(const Benchmark& benchmark) {
  const measure::NoiseFacts before = measure::read_noise();
  Measurement measurement;
  try {
    measurement = benchmark.measure();
  } catch (const Broken& broken) {
    measurement.broken = broken.what();
    if (!broken.why().empty()) *measurement.broken += " (" + broken.why() + ")";
  } catch (const Error& error) {
    measurement.note = error.what();
    if (!error.why().empty()) measurement.note += " (" + error.why() + ")";
    if (!error.hint().empty()) measurement.note += "; " + error.hint();
  } catch (const std::exception& error) {
    measurement = {};
    measurement.note = std::string("an unexpected error: ") + error.what();
  }
  const double cpus = measure::usable_cpus(measure::read_host());
  return judge(benchmark.bar, measurement, measure::judge(before, measure::read_noise(), cpus));
}

}  // namespace tare::benchmarks
