#include "lab/report/gateway_summary.hpp"

#include <algorithm>

namespace tare::report {
namespace {

std::optional<LoadFigure> figure_of(const measure::Summary& summary) {
  if (summary.count == 0) return std::nullopt;
  return LoadFigure{summary.count, *summary.max, *summary.p50, summary.p95, summary.p99};
}

/// The rows of one target, and the runs of its record.
class Sources {
 public:
  Sources(const Document& document, const GatewayRecord& record) : document_(document), record_(record) {}

  /// Null when the row has no such metric or no good sample.
  std::optional<LoadFigure> figure(const char* row, const char* metric) const {
    const Row* found = row_of(row);
    if (found == nullptr) return std::nullopt;
    const auto entry = found->metrics.find(metric);
    return entry == found->metrics.end() ? std::nullopt : figure_of(entry->second.summary);
  }

  std::optional<LoadFigure> latency(const char* row) const { return figure(row, "total"); }

  std::optional<std::uint64_t> samples(const char* row) const {
    const Row* found = row_of(row);
    if (found == nullptr || found->metrics.empty()) return std::nullopt;
    std::uint64_t sum = 0;
    for (const auto& [outcome, n] : found->outcomes) sum += n;
    return sum;
  }

  std::optional<std::uint64_t> failed(const char* row) const {
    const auto all = samples(row);
    if (!all) return std::nullopt;
    const auto& outcomes = row_of(row)->outcomes;
    const auto ok = outcomes.find("ok");
    return *all - (ok == outcomes.end() ? 0 : ok->second);
  }

  /// Of the runs in which `value` has one.
  template <class Value>
  std::optional<LoadFigure> over_runs(Value value) const {
    std::vector<double> values;
    for (const GatewayRun& run : record_.runs) {
      const std::optional<double> one = value(run);
      if (one) values.push_back(*one);
    }
    return figure_of(measure::summarise(std::move(values)));
  }

  std::optional<LoadFigure> after(std::optional<double> GatewayMemory::* size) const {
    return over_runs([size](const GatewayRun& run) { return run.memory.after.*size; });
  }

  std::optional<LoadFigure> growth(std::optional<double> GatewayMemory::* size) const {
    return over_runs([size](const GatewayRun& run) -> std::optional<double> {
      const auto& [before, after, peak] = run.memory;
      if (!(before.*size) || !(after.*size)) return std::nullopt;
      return *(after.*size) - *(before.*size);
    });
  }

  /// The sum over the runs; null when one of them does not have it, or there is none.
  template <class Value>
  auto sum_of_runs(Value value) const -> decltype(value(std::declval<const GatewayRun&>())) {
    auto sum = value(GatewayRun());
    sum.reset();
    for (const GatewayRun& run : record_.runs) {
      const auto one = value(run);
      if (!one) return std::nullopt;
      sum = sum.value_or(0) + *one;
    }
    return sum;
  }

  template <class Counts>
  std::uint64_t count(Counts counts) const {
    std::uint64_t sum = 0;
    for (const GatewayRun& run : record_.runs) sum += counts(run);
    return sum;
  }

  bool has_processes() const {
    return std::ranges::any_of(record_.runs, [](const GatewayRun& run) { return !!run.gateway_process; });
  }

 private:
  const Row* row_of(const char* row) const { return find_row(document_, row, record_.target); }

  const Document& document_;
  const GatewayRecord& record_;
};

std::optional<double> process_cpu(const GatewayRun& run) {
  return run.cpu_usage.process ? std::optional(run.cpu_usage.process->total_ms) : std::nullopt;
}

std::optional<double> share(std::optional<double> part, double whole) {
  return part && whole > 0 ? std::optional(*part / whole) : std::nullopt;
}

void add_server(GatewaySummary& summary, const Sources& from) {
  summary.gateway_process_cpu_ms = from.over_runs(process_cpu);
  summary.gateway_process_cpu_ms_per_turn = from.over_runs(
      [](const GatewayRun& run) { return share(process_cpu(run), static_cast<double>(run.turn_count)); });
  summary.gateway_main_thread_cpu_ms = from.over_runs([](const GatewayRun& run) {
    const auto& cpu = run.cpu_usage.main_thread;
    return cpu ? std::optional(cpu->total_ms) : std::nullopt;
  });
  summary.gateway_process_cpu_core_ratio =
      from.over_runs([](const GatewayRun& run) { return share(process_cpu(run), run.cpu_usage.wall_ms); });
  summary.gateway_external_growth_mb = from.growth(&GatewayMemory::external_mb);
  summary.gateway_external_mb = from.after(&GatewayMemory::external_mb);
  summary.gateway_array_buffers_growth_mb = from.growth(&GatewayMemory::array_buffers_mb);
  summary.gateway_array_buffers_mb = from.after(&GatewayMemory::array_buffers_mb);
  summary.gateway_heap_growth_mb = from.growth(&GatewayMemory::heap_used_mb);
  summary.gateway_heap_used_mb = from.after(&GatewayMemory::heap_used_mb);
  summary.gateway_peak_rss_mb = from.over_runs([](const GatewayRun& run) { return run.memory.peak_rss_mb; });
  summary.gateway_rss_growth_mb = from.growth(&GatewayMemory::rss_mb);
  if (from.has_processes())
    summary.gateway_unclean_exits =
        from.count([](const GatewayRun& run) { return run.gateway_process && !run.gateway_process->clean; });
}

void add_event_loop(GatewaySummary& summary, const Sources& from) {
  summary.cpu_core_ratio = from.figure("event_loop", "cpu_core_ratio");
  summary.degraded_samples = from.count([](const GatewayRun& run) { return run.degraded_samples; });
  summary.event_loop_delay_max_ms = from.figure("event_loop", "delay_max");
  summary.event_loop_delay_p99_ms = from.figure("event_loop", "delay_p99");
  summary.event_loop_utilization = from.figure("event_loop", "utilization");
}

void add_probes(GatewaySummary& summary, const Sources& from) {
  for (const auto& [method, row] :
       {std::pair("tasks.list", "tasks_list"), {"cron.list", "cron_list"}, {"cron.status", "cron_status"}})
    summary.control_plane[method] = {from.failed(row), from.latency(row)};
  summary.control_ui_failed_samples = from.failed("control_ui");
  summary.control_ui_latency_ms = from.latency("control_ui");
  summary.fresh_connection_failed_runs =
      from.count([](const GatewayRun& run) { return run.fresh_connection_failed; });
  summary.fresh_connection_latency_ms = from.latency("fresh_connection");
  summary.history_failed_samples = from.failed("chat_history");
  summary.history_latency_ms = from.latency("chat_history");
  summary.history_sample_count = from.samples("chat_history");
  summary.message_subscription_failed_samples = from.failed("setup_subscribe");
  summary.message_subscription_latency_ms = from.latency("setup_subscribe");
  summary.message_subscription_load_failed_samples = from.failed("messages_subscribe");
  summary.message_subscription_load_latency_ms = from.latency("messages_subscribe");
  summary.readyz_latency_ms = from.latency("readyz");
  summary.readyz_failed_samples = from.failed("readyz");
  summary.sample_count = from.samples("readyz");
  summary.sessions_list_latency_ms = from.latency("sessions_list");
  summary.sessions_list_failed_samples = from.failed("sessions_list");
  summary.session_update_failed_samples = from.failed("sessions_patch");
  summary.session_update_latency_ms = from.latency("sessions_patch");
  summary.session_update_sample_count = from.samples("sessions_patch");
}

void add_work(GatewaySummary& summary, const Sources& from) {
  const auto of_runs = [&](double GatewayRun::* duration) {
    return from.over_runs([duration](const GatewayRun& run) { return std::optional(run.*duration); });
  };
  summary.model_request_count =
      from.sum_of_runs([](const GatewayRun& run) { return run.model_request_count; });
  summary.plugin_metadata_scan_count = from.sum_of_runs([](const GatewayRun& run) {
    const auto& scans = run.plugin_metadata_scans;
    return scans ? std::optional(scans->count) : std::nullopt;
  });
  summary.plugin_metadata_scan_total_duration_ms = from.sum_of_runs([](const GatewayRun& run) {
    const auto& scans = run.plugin_metadata_scans;
    return scans ? std::optional(scans->total_duration_ms) : std::nullopt;
  });
  summary.session_seed_duration_ms = of_runs(&GatewayRun::session_seed_duration_ms);
  summary.setup_duration_ms = of_runs(&GatewayRun::setup_duration_ms);
  summary.turn_count = from.count([](const GatewayRun& run) { return run.turn_count; });
  summary.turns_duration_ms = of_runs(&GatewayRun::turns_duration_ms);
}

}  // namespace

GatewaySummary summarise_gateway(const Document& document, const GatewayRecord& record) {
  const Sources from(document, record);
  GatewaySummary summary;
  summary.budget_violations = record.summary.budget_violations;
  add_server(summary, from);
  add_event_loop(summary, from);
  add_probes(summary, from);
  add_work(summary, from);
  return summary;
}

void finish_gateway_records(Document& document) {
  if (!document.gateways) return;
  for (GatewayRecord& record : *document.gateways) record.summary = summarise_gateway(document, record);
}

}  // namespace tare::report
