#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/describe.hpp>

/// What the runs of the bench `gateway` leave beside their rows: a record of each run, and the summary over a
/// target's runs under the names that OpenClaw's own concurrency bench gave the figures.
namespace tare::report {

struct LoadWindow {
  std::uint64_t start_monotonic_micros = 0;
  std::uint64_t end_monotonic_micros = 0;
};
BOOST_DESCRIBE_STRUCT(LoadWindow, (), (start_monotonic_micros, end_monotonic_micros))

/// The gateway's process; of one that runs already, null in its place.
struct GatewayProcess {
  std::int64_t pid = 0;
  std::optional<std::int64_t> exit_code;
  std::optional<std::string> signal_code;  ///< "SIGKILL"
  std::optional<std::uint64_t> exit_at_monotonic_micros;
  std::optional<double> stop_duration_ms;
  bool clean = false;  ///< exit code 0 after SIGTERM, in time, nothing left behind
};
BOOST_DESCRIBE_STRUCT(GatewayProcess, (),
                      (pid, exit_code, signal_code, exit_at_monotonic_micros, stop_duration_ms, clean))

/// One try of the gate before the load: healthy and fast?
struct WarmupProbe {
  bool ok = false;
  double latency_ms = 0;
  std::optional<std::string> error;
};
BOOST_DESCRIBE_STRUCT(WarmupProbe, (), (ok, latency_ms, error))

struct WarmupSample {
  WarmupProbe readyz;
  WarmupProbe control_ui;
  WarmupProbe sessions_list;
  std::optional<bool> degraded;
};
BOOST_DESCRIBE_STRUCT(WarmupSample, (), (readyz, control_ui, sessions_list, degraded))

struct ProbeWarmup {
  double duration_ms = 0;
  std::vector<WarmupSample> samples;
};
BOOST_DESCRIBE_STRUCT(ProbeWarmup, (), (duration_ms, samples))

struct ProbeWorkload {
  std::string mode;  ///< "adaptive" or "fixed-rounds"
  std::string pace;  ///< "open-loop" or "closed-loop"
  std::optional<std::uint64_t> sampler_rounds_per_run;
  std::optional<std::uint64_t> history_requests_per_run;
  std::string peak_rss_sampling = "each-second-and-final-memory";
};
BOOST_DESCRIBE_STRUCT(ProbeWorkload, (),
                      (mode, pace, sampler_rounds_per_run, history_requests_per_run, peak_rss_sampling))

/// MiB of the whole process tree (rss, pss), or as the gateway says it of itself.
struct GatewayMemory {
  std::optional<double> rss_mb;
  std::optional<double> pss_mb;
  std::optional<double> heap_used_mb;
  std::optional<double> external_mb;
  std::optional<double> array_buffers_mb;
};
BOOST_DESCRIBE_STRUCT(GatewayMemory, (), (rss_mb, pss_mb, heap_used_mb, external_mb, array_buffers_mb))

struct GatewayMemories {
  GatewayMemory before;
  GatewayMemory after;
  std::optional<double> peak_rss_mb;
};
BOOST_DESCRIBE_STRUCT(GatewayMemories, (), (before, after, peak_rss_mb))

struct CpuMs {
  double user_ms = 0;
  double system_ms = 0;
  double total_ms = 0;
};
BOOST_DESCRIBE_STRUCT(CpuMs, (), (user_ms, system_ms, total_ms))

/// Of the load window; null what cannot be read, of a gateway that was not started here all of it.
struct GatewayCpu {
  std::optional<CpuMs> process;  ///< the whole process tree
  std::optional<CpuMs> main_thread;
  double wall_ms = 0;
};
BOOST_DESCRIBE_STRUCT(GatewayCpu, (), (process, main_thread, wall_ms))

struct MetadataScans {
  std::uint64_t count = 0;
  double total_duration_ms = 0;
};
BOOST_DESCRIBE_STRUCT(MetadataScans, (), (count, total_duration_ms))

/// What a gateway still held once the load was over and its clients had gone, beside what it held before.
struct Leaks {
  std::optional<std::int64_t> fds;
  std::optional<std::int64_t> processes;
  std::optional<std::int64_t> connections;
  std::optional<std::int64_t> active_runs;
};
BOOST_DESCRIBE_STRUCT(Leaks, (), (fds, processes, connections, active_runs))

struct GatewayRun {
  std::uint64_t run = 0;
  double duration_ms = 0;
  std::optional<double> ready_ms;  ///< from the start of the process to readiness
  double session_seed_duration_ms = 0;
  double setup_duration_ms = 0;
  double turns_duration_ms = 0;
  std::uint64_t turn_count = 0;
  std::optional<std::uint64_t> model_request_count;
  std::uint64_t expected_model_requests = 0;
  LoadWindow load_window;
  std::optional<GatewayProcess> gateway_process;
  ProbeWarmup probe_warmup;
  ProbeWorkload probe_workload;
  GatewayMemories memory;
  GatewayCpu cpu_usage;
  std::optional<MetadataScans> plugin_metadata_scans;
  std::uint64_t degraded_samples = 0;
  std::uint64_t sequence_gaps = 0;
  bool fresh_connection_failed = false;  ///< some fresh connection of this run failed
  Leaks leaks;
};
BOOST_DESCRIBE_STRUCT(GatewayRun, (),
                      (run, duration_ms, ready_ms, session_seed_duration_ms, setup_duration_ms,
                       turns_duration_ms, turn_count, model_request_count, expected_model_requests,
                       load_window, gateway_process, probe_warmup, probe_workload, memory, cpu_usage,
                       plugin_metadata_scans, degraded_samples, sequence_gaps, fresh_connection_failed,
                       leaks))

/// A figure that has few or many values: what few of them do not carry is null.
struct LoadFigure {
  std::uint64_t count = 0;
  double max = 0;
  double p50 = 0;
  std::optional<double> p95;  ///< of 20 and more
  std::optional<double> p99;  ///< of 100 and more
};
BOOST_DESCRIBE_STRUCT(LoadFigure, (), (count, max, p50, p95, p99))

}  // namespace tare::report
