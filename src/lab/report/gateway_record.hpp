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

/// The probes of one method of the control plane.
struct ControlFigure {
  std::optional<std::uint64_t> failed_samples;
  std::optional<LoadFigure> latency_ms;
};
BOOST_DESCRIBE_STRUCT(ControlFigure, (), (failed_samples, latency_ms))

/// The figures of all runs of a target, under the names that OpenClaw's bench gives them. Latencies are of
/// the requests that ended well. One that does not exist is null: its probes were not part of the load, its
/// gateway does not tell it, or was not started here.
struct GatewaySummary {
  std::vector<std::string> budget_violations;
  std::optional<LoadFigure> gateway_process_cpu_ms;
  std::optional<LoadFigure> gateway_process_cpu_ms_per_turn;
  std::optional<LoadFigure> gateway_main_thread_cpu_ms;
  std::optional<LoadFigure> gateway_process_cpu_core_ratio;
  std::map<std::string, ControlFigure> control_plane;  ///< by method: "tasks.list"
  std::optional<std::uint64_t> control_ui_failed_samples;
  std::optional<LoadFigure> control_ui_latency_ms;
  std::optional<LoadFigure> cpu_core_ratio;
  std::uint64_t degraded_samples = 0;
  std::optional<LoadFigure> event_loop_delay_max_ms;
  std::optional<LoadFigure> event_loop_delay_p99_ms;
  std::optional<LoadFigure> event_loop_utilization;
  std::uint64_t fresh_connection_failed_runs = 0;
  std::optional<LoadFigure> fresh_connection_latency_ms;
  std::optional<std::uint64_t> gateway_unclean_exits;
  std::optional<LoadFigure> gateway_external_growth_mb;
  std::optional<LoadFigure> gateway_external_mb;
  std::optional<LoadFigure> gateway_array_buffers_growth_mb;
  std::optional<LoadFigure> gateway_array_buffers_mb;
  std::optional<LoadFigure> gateway_heap_growth_mb;
  std::optional<LoadFigure> gateway_heap_used_mb;
  std::optional<LoadFigure> gateway_peak_rss_mb;
  std::optional<LoadFigure> gateway_rss_growth_mb;
  std::optional<std::uint64_t> history_failed_samples;
  std::optional<LoadFigure> history_latency_ms;
  std::optional<std::uint64_t> history_sample_count;
  std::optional<std::uint64_t> message_subscription_failed_samples;
  std::optional<LoadFigure> message_subscription_latency_ms;
  std::optional<std::uint64_t> message_subscription_load_failed_samples;
  std::optional<LoadFigure> message_subscription_load_latency_ms;
  std::optional<std::uint64_t> model_request_count;
  std::optional<std::uint64_t> plugin_metadata_scan_count;
  std::optional<double> plugin_metadata_scan_total_duration_ms;
  std::optional<LoadFigure> readyz_latency_ms;
  std::optional<std::uint64_t> readyz_failed_samples;
  std::optional<std::uint64_t> sample_count;  ///< of /readyz
  std::optional<LoadFigure> session_seed_duration_ms;
  std::optional<LoadFigure> sessions_list_latency_ms;
  std::optional<std::uint64_t> sessions_list_failed_samples;
  std::optional<std::uint64_t> session_update_failed_samples;
  std::optional<LoadFigure> session_update_latency_ms;
  std::optional<std::uint64_t> session_update_sample_count;
  std::optional<LoadFigure> setup_duration_ms;
  std::uint64_t turn_count = 0;
  std::optional<LoadFigure> turns_duration_ms;
};
BOOST_DESCRIBE_STRUCT(GatewaySummary, (),
                      (budget_violations, gateway_process_cpu_ms, gateway_process_cpu_ms_per_turn,
                       gateway_main_thread_cpu_ms, gateway_process_cpu_core_ratio, control_plane,
                       control_ui_failed_samples, control_ui_latency_ms, cpu_core_ratio, degraded_samples,
                       event_loop_delay_max_ms, event_loop_delay_p99_ms, event_loop_utilization,
                       fresh_connection_failed_runs, fresh_connection_latency_ms, gateway_unclean_exits,
                       gateway_external_growth_mb, gateway_external_mb, gateway_array_buffers_growth_mb,
                       gateway_array_buffers_mb, gateway_heap_growth_mb, gateway_heap_used_mb,
                       gateway_peak_rss_mb, gateway_rss_growth_mb, history_failed_samples, history_latency_ms,
                       history_sample_count, message_subscription_failed_samples,
                       message_subscription_latency_ms, message_subscription_load_failed_samples,
                       message_subscription_load_latency_ms, model_request_count, plugin_metadata_scan_count,
                       plugin_metadata_scan_total_duration_ms, readyz_latency_ms, readyz_failed_samples,
                       sample_count, session_seed_duration_ms, sessions_list_latency_ms,
                       sessions_list_failed_samples, session_update_failed_samples, session_update_latency_ms,
                       session_update_sample_count, setup_duration_ms, turn_count, turns_duration_ms))

/// One gateway of a run of the bench.
struct GatewayRecord {
  std::string target;
  std::vector<GatewayRun> runs;
  GatewaySummary summary;
};
BOOST_DESCRIBE_STRUCT(GatewayRecord, (), (target, runs, summary))

}  // namespace tare::report
