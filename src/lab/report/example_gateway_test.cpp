#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/report/example_document.hpp"
#include "lab/report/gateway_summary.hpp"
#include "lab/report/metric.hpp"

namespace tare::report {
namespace {

using testing::ElementsAre;

/// A row of latencies: roughly its p50 in ms on the built-in gateway and on OpenClaw; 0: not there.
struct GatewayProbe {
  const char* row;
  double embedded_ms;
  double openclaw_ms;
};

constexpr GatewayProbe gateway_probes[] = {
    {"readyz", 0.21, 6.4},       {"control_ui", 0.24, 9.1},         {"sessions_list", 0.41, 31},
    {"chat_history", 0.52, 44},  {"messages_subscribe", 0.19, 5.1}, {"tasks_list", 0.22, 7.5},
    {"cron_list", 0.18, 4.4},    {"cron_status", 0.17, 0},          {"fresh_connection", 0.61, 52},
    {"setup_subscribe", 0.2, 5},
};

/// A run of the bench on one or two gateways that take turns.
class GatewayExample {
 public:
  GatewayExample(std::uint32_t runs, std::uint32_t probes) : runs_(runs), probes_(probes) {}

  Document build(const std::vector<std::string>& targets) {
    document_ = example_quick_run();
    document_.rows.clear();
    document_.targets.clear();
    document_.comparisons.clear();
    document_.calibrations.reset();
    document_.budgets.clear();
    document_.findings.clear();
    document_.command = {"tare", "gateway", "--concurrency", "8"};
    document_.config = json::parse(
        R"({"bench": "gateway", "concurrency": 8, "turnsPerSession": 1, "streamChunkDelayMs": 1000})",
        "config");
    document_.config.as_object()["runs"] = runs_;
    document_.gateways.emplace();
    for (const std::string& target : targets) add(target, targets.size() > 1);
    if (targets.size() > 1) compare();
    finish_gateway_records(document_);
    return document_;
  }

 private:
  enum class Unit { ms, bytes, ratio, rate };

  /// So many samples in each run, with a slow one now and then.
  Metric metric(double centre, std::uint32_t each, Unit unit) const {
    static constexpr const char* names[] = {"ms", "bytes", "ratio", "turns/s"};
    Metric metric;
    metric.unit = names[static_cast<std::size_t>(unit)];
    metric.better = unit == Unit::rate ? Better::higher : Better::lower;
    for (std::uint32_t i = 0; i < each * runs_; ++i) {
      const double spread = (i * 37 % 101) / 101.0 - 0.5;
      const double slow = i % 29 == 28 ? 1.5 : 0;
      metric.samples.emplace_back(std::round(centre * (1 + 0.1 * spread + slow) * 1e4) / 1e4);
      metric.round.push_back(i);
      metric.process.push_back(i / each);
      metric.at_ms.push_back(100.0 * i);
      metric.outcome.push_back(Outcome::ok);
      metric.error.emplace_back();
    }
    metric.summary = summary_of(metric);
    return metric;
  }

  Row& row(const std::string& name, const std::string& target, std::uint32_t each) {
    Row row;
    row.bench = "gateway";
    row.row = name;
    row.target = target;
    row.outcomes["ok"] = each * runs_;
    row.invariants.push_back({"completed", true, each * runs_, 0, "ok", {}});
    document_.rows.push_back(std::move(row));
    return document_.rows.back();
  }

  void add(const std::string& target, bool compared) {
    Target facts;
    facts.id = target;
    facts.kind = target == "openclaw" && compared ? Lane::reference : Lane::subject;
    facts.version = target == "openclaw" ? "2026.9.6" : "0.1.0";
    facts.driver = {target == "openclaw" ? "dist/entry.js" : "tare"};
    document_.targets.push_back(facts);
    const bool real = target == "openclaw";
    add_turns(target, real ? 210 : 0.31);
    for (const GatewayProbe& probe : gateway_probes)
      add_probe(probe.row, target, real ? probe.openclaw_ms : probe.embedded_ms);
    Row& loop = row("event_loop", target, 5);
    loop.metrics["delay_p99"] = metric(real ? 21 : 0.4, 5, Unit::ms);
    loop.metrics["delay_max"] = metric(real ? 160 : 0.9, 5, Unit::ms);
    loop.metrics["utilization"] = metric(real ? 0.41 : 0.006, 5, Unit::ratio);
    loop.metrics["cpu_core_ratio"] = metric(real ? 0.52 : 0.01, 5, Unit::ratio);
    add_server(target, real);
    add_record(target, real);
  }

  void add_turns(const std::string& target, double added) {
    Row& turns = row("turns", target, 8);
    turns.metrics["accepted"] = metric(added / 3, 8, Unit::ms);
    turns.metrics["first_token"] = metric(added / 2 + 2, 8, Unit::ms);
    turns.metrics["last_token"] = metric(7000 + added, 8, Unit::ms);
    turns.metrics["total"] = metric(7001 + added, 8, Unit::ms);
    turns.metrics["added"] = metric(added, 8, Unit::ms);
    row("chunk_gaps", target, 56).metrics["total"] = metric(1000, 56, Unit::ms);
    Row& load = row("load", target, 1);
    load.metrics["turns_per_s"] = metric(8 / (7.1 + added / 1000), 1, Unit::rate);
    load.metrics["goodput_per_s"] = metric(7 / (7.1 + added / 1000), 1, Unit::rate);
    load.metrics["total"] = metric(7100 + added, 1, Unit::ms);
  }

  void add_probe(const std::string& name, const std::string& target, double ms) {
    Row& probe = row(name, target, probes_);
    if (ms == 0) {
      probe.outcomes.clear();
      probe.status = RowStatus::unavailable;
      probe.reason = "unknown method: cron.status";
      return;
    }
    probe.metrics["total"] = metric(ms, probes_, Unit::ms);
    if (name == "setup_subscribe") return;
    probe.metrics["service"] = metric(ms * 0.98, probes_, Unit::ms);
    probe.counters = {
        {"due", probes_ * runs_}, {"late", 1}, {"unsent", 0}, {"censored", 0}, {"startErrorP99Ns", 180'000}};
    if (name == "sessions_list" && target == "embedded") count_ten_times(probe);
    if (name == "chat_history" && target == "openclaw") spoil(probe);
  }

  /// Ten times as many samples as are kept.
  void count_ten_times(Row& row) const {
    for (auto& [name, metric] : row.metrics) {
      measure::Histogram histogram;
      for (const double value : good_values(metric))
        histogram.record(Nanoseconds(static_cast<std::int64_t>(value * 1e6)), 10);
      metric.histogram = histogram.data();
      metric.summary = summary_of(metric);
    }
    row.outcomes["ok"] *= 10;
    row.invariants[0].checked *= 10;
    row.counters["due"] *= 10;
  }

  /// The last requests were too late, never came back, and were not sent.
  static void spoil(Row& row) {
    for (auto& [name, metric] : row.metrics) {
      const std::size_t n = metric.samples.size();
      metric.outcome[n - 2] = Outcome::timeout;
      metric.error[n - 2] = "no answer within 65 s";
      metric.samples[n - 2] = 65'000;
      metric.outcome[n - 1] = Outcome::censored;
      metric.samples[n - 1] = 4200;
      metric.summary = summary_of(metric);
    }
    row.outcomes["ok"] -= 2;
    row.outcomes["timeout"] = row.outcomes["censored"] = 1;
    row.counters["due"] += 3;
    row.counters["unsent"] = 3;
    row.counters["censored"] = 1;
  }

  void add_server(const std::string& target, bool real) {
    Row& server = row("server", target, 1);
    const double mb = real ? 1e6 : 30e3;
    server.metrics["cpu_total"] = metric(real ? 3100 : 9, 1, Unit::ms);
    server.metrics["cpu_per_turn"] = metric(real ? 388 : 1.1, 1, Unit::ms);
    server.metrics["cpu_main_thread"] = metric(real ? 2700 : 7, 1, Unit::ms);
    server.metrics["core_ratio"] = metric(real ? 0.43 : 0.0012, 1, Unit::ratio);
    server.metrics["rss_before"] = metric(320 * mb, 1, Unit::bytes);
    server.metrics["rss_peak"] = metric(410 * mb, 1, Unit::bytes);
    server.metrics["rss_after"] = metric(400 * mb, 1, Unit::bytes);
    server.metrics["pss_after"] = metric(390 * mb, 1, Unit::bytes);
    server.metrics["rss_growth"] = metric(80 * mb, 1, Unit::bytes);
    server.metrics["ready"] = metric(real ? 4100 : 6, 1, Unit::ms);
    server.metrics["stop"] = metric(real ? 350 : 12, 1, Unit::ms);
    if (!real) return;
    server.metrics["heap_used"] = metric(140 * mb, 1, Unit::bytes);
    server.metrics["heap_growth"] = metric(-3 * mb, 1, Unit::bytes);
  }

  GatewayRun run(std::uint32_t index, bool real) const {
    GatewayRun run;
    run.run = index;
    run.duration_ms = 9000;
    run.ready_ms = real ? 4100 : 6;
    run.session_seed_duration_ms = 20 + index;
    run.setup_duration_ms = 5;
    run.turns_duration_ms = 7100;
    run.turn_count = 8;
    run.model_request_count = run.expected_model_requests = 8;
    run.load_window = {1'000'000, 8'100'000};
    run.gateway_process = GatewayProcess{4711, 0, {}, 8'200'000, 12.0, true};
    run.probe_warmup = {3.5, {{{true, 0.4, {}}, {true, 0.5, {}}, {true, 0.6, {}}, false}}};
    run.probe_workload.mode = "adaptive";
    run.probe_workload.pace = "open-loop";
    run.memory = {{9.5, 8.0, {}, {}, {}}, {12.0 + index, 10.0, {}, {}, {}}, 12.5};
    run.cpu_usage = {CpuMs{6, 3, 9}, CpuMs{5, 2, 7}, 7100};
    if (real) run.memory.before.heap_used_mb = 140;
    if (real) run.memory.after.heap_used_mb = 137;
    run.degraded_samples = real && index == 0 ? 2 : 0;
    run.leaks = {index == 0 && real ? 2 : 0, 0, 0, {}};
    return run;
  }

  void add_record(const std::string& target, bool real) {
    GatewayRecord record;
    record.target = target;
    for (std::uint32_t i = 0; i < runs_; ++i) record.runs.push_back(run(i, real));
    if (real)
      record.summary.budget_violations = {
          "Gateway chat.history probe exceeded 2000ms: ok=false latencyMs=65000.0 error=no answer within 65 "
          "s"};
    document_.gateways->push_back(std::move(record));
  }

  void compare() {
    for (const Row& row : document_.rows) {
      const Row* reference = find_row(document_, row.row, "openclaw");
      if (row.target == "openclaw" || reference == nullptr) continue;
      for (const auto& [name, metric] : row.metrics) {
        const auto other = reference->metrics.find(name);
        if (other == reference->metrics.end()) continue;
        Comparison c;
        c.row = row.row;
        c.metric = name;
        c.quantile = "p50";
        c.subject = row.target;
        c.reference = "openclaw";
        c.unit = metric.unit;
        c.pairs = runs_;
        c.method = "p50 ÷ p50";
        c.ratio = *metric.summary.p50 / *other->second.summary.p50;
        if (row.row != "load" && row.row != "server") c.interval = Interval{*c.ratio * 0.9, *c.ratio * 1.1};
        document_.comparisons.push_back(c);
      }
    }
  }

  std::uint32_t runs_;
  std::uint32_t probes_;
  Document document_;
};

TEST(GatewaySummary, the_figures_of_the_seed_follow_from_rows_and_runs) {
  const Document document = example_gateway_run(2, 30);
  const GatewaySummary& summary = document.gateways->at(0).summary;
  EXPECT_EQ(summary.turn_count, 16U);
  EXPECT_EQ(summary.model_request_count, 16U);
  EXPECT_EQ(summary.gateway_process_cpu_ms_per_turn->p50, 9.0 / 8);
  EXPECT_EQ(summary.gateway_process_cpu_core_ratio->max, 9.0 / 7100);
  EXPECT_EQ(summary.gateway_rss_growth_mb->max, 3.5);
  EXPECT_EQ(summary.gateway_unclean_exits, 0U);
  EXPECT_EQ(summary.sample_count, 60U);
  EXPECT_EQ(summary.readyz_latency_ms->count, 60U);
  EXPECT_EQ(summary.readyz_latency_ms->p50,
            find_row(document, "readyz", "embedded")->metrics.at("total").summary.p50);
  EXPECT_EQ(summary.sessions_list_latency_ms->count, 600U);  // those that were not kept, too
  EXPECT_EQ(summary.control_plane.at("tasks.list").failed_samples, 0U);
  EXPECT_EQ(summary.event_loop_delay_p99_ms->count, 10U);
}

TEST(GatewaySummary, what_does_not_exist_is_null) {
  Document document = example_gateway_run(1, 5);
  const GatewaySummary& summary = document.gateways->at(0).summary;
  EXPECT_FALSE(summary.session_update_latency_ms);
  EXPECT_FALSE(summary.session_update_sample_count);
  EXPECT_FALSE(summary.gateway_heap_growth_mb);
  EXPECT_FALSE(summary.plugin_metadata_scan_count);
  EXPECT_FALSE(summary.readyz_latency_ms->p95);  // of five samples
  GatewayRun& run = document.gateways->at(0).runs.at(0);
  run.gateway_process.reset();
  run.model_request_count.reset();
  run.cpu_usage.process.reset();
  finish_gateway_records(document);
  EXPECT_FALSE(summary.gateway_unclean_exits);
  EXPECT_FALSE(summary.model_request_count);
  EXPECT_FALSE(summary.gateway_process_cpu_ms);
}

TEST(GatewaySummary, failures_are_counted_and_in_no_latency) {
  const Document document = example_gateway_lanes(2, 30);
  const GatewaySummary& summary = document.gateways->at(1).summary;
  EXPECT_EQ(summary.history_failed_samples, 2U);
  EXPECT_EQ(summary.history_sample_count, 60U);
  EXPECT_EQ(summary.history_latency_ms->count, 58U);
  EXPECT_LT(summary.history_latency_ms->max, 1000);
  EXPECT_EQ(summary.degraded_samples, 2U);
  EXPECT_EQ(summary.gateway_heap_growth_mb->p50, -3);
  EXPECT_FALSE(summary.control_plane.at("cron.status").failed_samples);
}

TEST(GatewaySummary, violations_of_budgets_are_kept) {
  Document document = example_gateway_lanes(1, 5);
  document.gateways->at(0).summary.budget_violations = {"Gateway readyz probe exceeded 1ms"};
  document.gateways->at(0).runs.at(0).gateway_process->clean = false;
  document.gateways->at(0).runs.at(0).fresh_connection_failed = true;
  finish_gateway_records(document);
  const GatewaySummary& summary = document.gateways->at(0).summary;
  EXPECT_THAT(summary.budget_violations, ElementsAre("Gateway readyz probe exceeded 1ms"));
  EXPECT_EQ(summary.gateway_unclean_exits, 1U);
  EXPECT_EQ(summary.fresh_connection_failed_runs, 1U);
}

TEST(GatewaySummary, a_document_with_records_reads_back_as_it_was_written) {
  const std::string text = to_json(example_gateway_lanes(2, 5));
  EXPECT_EQ(to_json(from_json(text, "run.json")), text);
}

}  // namespace

Document example_gateway_run(std::uint32_t runs, std::uint32_t probes) {
  return GatewayExample(runs, probes).build({"embedded"});
}

Document example_gateway_lanes(std::uint32_t runs, std::uint32_t probes) {
  return GatewayExample(runs, probes).build({"embedded", "openclaw"});
}

}  // namespace tare::report
