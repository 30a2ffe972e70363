#include "lab/report/example_document.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "base/json.hpp"

namespace tare::report {
namespace {

struct Lanes4 {
  double native, node, guest;  // p50 in ms, roughly; 0: the lane does not have the row
};

struct Workload {
  const char* name;
  std::optional<std::uint64_t> size;
  Lanes4 ms;
  const char* native_reason = nullptr;
};

const Workload workloads[] = {
    {"node_exit_1", {}, {25.1, 27.9, 0.312}},
    {"fanout_1", 1, {25.3, 28.2, 0.335}},
    {"fanout_8", 8, {92.4, 104, 2.61}},
    {"fanout_32", 32, {361, 415, 10.9}},
    {"nested_8", 8, {0, 147, 14.2}, "has no child_process"},
    {"capture_2b", {}, {25.6, 28.9, 0.402}},
    {"capture_256k", {}, {26.2, 30.1, 1.93}},
    {"stdin_roundtrip_4k", {}, {26.8, 26.9, 0.844}},
    {"exit_code_7", {}, {25.2, 28.0, 0.313}},
    {"signal_kill", {}, {25.4, 28.4, 0.621}},
    {"reap_storm_32", 32, {370, 429, 11.8}},
};

/// Repeatable samples around `centre`: a spread of 4 % and a slow one now and then.
std::vector<double> samples_around(double centre, std::uint32_t rounds) {
  std::vector<double> out;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const double spread = (i * 37 % 101) / 101.0 - 0.5;
    const double slow = i % 17 == 16 ? 0.12 : 0;
    out.push_back(std::round(centre * (1 + 0.04 * spread + slow) * 1e4) / 1e4);
  }
  return out;
}

Metric metric_around(double centre, std::uint32_t rounds, double start_ms) {
  Metric metric;
  metric.unit = "ms";
  const std::vector<double> samples = samples_around(centre, rounds);
  for (std::uint32_t i = 0; i < rounds; ++i) {
    metric.samples.emplace_back(samples[i]);
    metric.round.push_back(i);
    metric.process.push_back(0);
    metric.at_ms.push_back(start_ms + 500.0 * i);
    metric.outcome.push_back(Outcome::ok);
    metric.error.emplace_back();
  }
  metric.warmup = {centre * 1.5, centre * 1.25};
  metric.summary = measure::summarise(samples);
  return metric;
}

/// The last samples of a row fail, with an error each.
void fail_last(Row& row, std::uint32_t failures, Outcome outcome, const std::string& error) {
  for (auto& [name, metric] : row.metrics) {
    std::vector<double> good;
    const std::size_t n = metric.samples.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (i + failures >= n) {
        metric.samples[i] = std::nullopt;
        metric.outcome[i] = outcome;
        metric.error[i] = error;
      } else {
        good.push_back(*metric.samples[i]);
      }
    }
    metric.summary = measure::summarise(std::move(good));
  }
  row.outcomes["ok"] -= failures;
  row.outcomes[boost::describe::enum_to_string(outcome, "?")] += failures;
  row.status = RowStatus::failed;
}

Row unavailable(const std::string& row, const std::string& target, const std::string& reason) {
  Row out;
  out.bench = "spawn";
  out.row = row;
  out.target = target;
  out.status = RowStatus::unavailable;
  out.reason = reason;
  return out;
}

Row measured(const Workload& load, const std::string& target, double ms, std::uint32_t rounds) {
  Row row = unavailable(load.name, target, "");
  row.status = RowStatus::ok;
  row.reason.reset();
  row.size = load.size;
  row.metrics["total"] = metric_around(ms, rounds, 100);
  if (row.row == "node_exit_1") {
    row.metrics["wait_reap"] = metric_around(ms * 0.97, rounds, 100);
    if (target != "guest") row.metrics["spawn"] = metric_around(ms * 0.03, rounds, 100);
  }
  row.outcomes["ok"] = rounds;
  row.counters["processes"] = static_cast<std::int64_t>(rounds * load.size.value_or(1));
  row.resources.cpu_user_ms = ms * 0.8;
  row.resources.cpu_system_ms = ms * 0.2;
  const bool shell = target == "sh";
  row.resources.max_rss_bytes = shell ? 1'200'000 : target == "guest" ? 6'400'000 : 43'500'000;
  row.resources.max_rss_floor_bytes = 1'450'000;
  row.resources.methods = {"CPU: wait4 of every child, mean per operation",
                           "max RSS: largest ru_maxrss of wait4"};
  row.invariants.push_back({"exit_code", true, rounds, 0, "code 0", {}});
  return row;
}

Comparison compare(ComparisonKind kind, const std::string& row, const std::string& subject, double subject_ms,
                   const std::string& reference, double reference_ms, std::uint32_t rounds) {
  Comparison c;
  c.kind = kind;
  c.row = row;
  c.metric = "total";
  c.quantile = "p50";
  c.subject = subject;
  c.reference = reference;
  c.unit = "ms";
  c.pairs = rounds;
  c.method = "median of paired log-ratios, sign-test interval";
  c.ratio = subject_ms / reference_ms;
  c.difference = subject_ms - reference_ms;
  if (rounds >= 6) {
    c.interval = Interval{*c.ratio * 0.99, *c.ratio * 1.01};
    c.difference_interval =
        Interval{*c.difference - 0.01 * reference_ms, *c.difference + 0.01 * reference_ms};
  } else {
    c.reason = "no interval (n<6)";
  }
  return c;
}

void add_row(Document& document, const Workload& load, std::uint32_t rounds) {
  const auto [native, node, guest] = load.ms;
  document.rows.push_back(native > 0 ? measured(load, "native", native, rounds)
                                     : unavailable(load.name, "native", load.native_reason));
  document.rows.push_back(measured(load, "node", node, rounds));
  document.rows.push_back(measured(load, "guest", guest, rounds));
  document.rows.push_back(unavailable(load.name, "agentos", "not installed"));
  auto& out = document.comparisons;
  out.push_back(compare(ComparisonKind::emulation, load.name, "guest", guest, "node", node, rounds));
  if (native > 0) {
    out.push_back(compare(ComparisonKind::total, load.name, "node", node, "native", native, rounds));
    out.push_back(compare(ComparisonKind::total, load.name, "guest", guest, "native", native, rounds));
    return;
  }
  Comparison none = compare(ComparisonKind::total, load.name, "node", 1, "native", 1, rounds);
  none.ratio.reset();
  none.interval.reset();
  none.difference.reset();
  none.difference_interval.reset();
  none.pairs = 0;
  none.reason = "native has no child_process";
  out.push_back(none);
}

measure::HostFacts example_host() {
  measure::HostFacts host;
  host.cpu = "AMD EPYC 7B13";
  host.logical_cpus = 2;
  host.cpus_allowed = "0-1";
  host.kernel = "6.1.0-18-amd64";
  host.os = "Debian GNU/Linux 12 (bookworm)";
  host.memory_bytes = 8'351'000'000;
  host.aslr = "full";
  host.clocksource = "tsc";
  host.cgroup.version = 2;
  host.cgroup.nr_throttled = 0;
  host.nofile = 1024;
  host.load = {1.4, 0.9, 0.5};
  host.psi.before = measure::Pressures{measure::Pressure{0.5, 1'000'000, 0.0, 0}, {}, {}};
  host.psi.after = measure::Pressures{measure::Pressure{0.7, 1'900'000, 0.0, 0}, {}, {}};
  host.steal_ms = 0;
  host.absent = {{"governor", "no cpufreq in /sys"},
                 {"turbo", "no cpufreq in /sys"},
                 {"smt", "the hypervisor hides it"},
                 {"cgroup.cpuQuota", "no limit"},
                 {"cgroup.memoryLimit", "no limit"}};
  return host;
}

Document example_run(std::uint32_t rounds) {
  Document document;
  document.complete = true;
  document.tool = {"0.1.0", "0123456789ab", "Release gcc 12.2.0 x86_64"};
  document.command = {"tare",     "spawn",          "--targets", "native,sh,node,guest,agentos",
                      "--output", "out/my run.json"};
  document.started_at = "2026-01-31T12:00:00.000Z";
  document.finished_at = "2026-01-31T12:03:07.250Z";
  document.seed = 42;
  document.host = example_host();
  document.config =
      json::parse(R"({"iterations": 200, "warmup": 2, "processes": 1, "fanout": [1, 8, 32]})", "config");
  document.config.as_object()["iterations"] = rounds;
  const auto target = [&](const char* id, Lane kind) {
    Target out;
    out.id = id;
    out.kind = kind;
    document.targets.push_back(out);
    return &document.targets.back();
  };
  target("native", Lane::floor)->driver = {"lib/tare/tare-spawner"};
  target("sh", Lane::floor)->driver = {"lib/tare/tare-spawner"};
  Target* node = target("node", Lane::reference);
  node->version = "v24.22.3";
  node->engine = "v8 13.6";
  node->path = "/opt/node/bin/node";
  node->sha256 = std::string(64, 'a');
  node->size_bytes = 121'000'000;
  node->modified_at = "2026-01-02T03:04:05.000Z";
  node->driver = {"/opt/node/bin/node", "lib/tare/drivers/node.mjs"};
  target("guest", Lane::subject)->version = "0.1.0";
  target("agentos", Lane::subject);
  for (const Workload& load : workloads) add_row(document, load, rounds);
  document.rows.push_back(measured({"spawn_exit", {}, {}}, "sh", 1.31, rounds));
  document.rows.push_back(measured({"exec_true", {}, {}}, "sh", 0.651, rounds));
  return document;
}

}  // namespace

Document example_document(std::uint32_t rounds) {
  Document document = example_run(rounds);
  for (Row& row : document.rows) {
    if (row.row == "fanout_32" && row.target == "guest" && rounds > 2) {
      fail_last(row, 2, Outcome::timeout, "no answer within 30 s");
      row.invariants[0].ok = false;
      row.invariants[0].broken = 2;
      row.invariants[0].expected = "32 exits, all code 0";
      row.invariants[0].actual = "31 exits";
      document.invariants = {
          false,
          {"fanout_32 on guest: exit_code: expected 32 exits, all code 0, got 31 exits (2 of " +
           std::to_string(rounds) + " samples)"}};
    }
    if (row.row == "signal_kill" && row.target == "guest") {
      row.resources.max_rss_bytes.reset();
      row.resources.methods[1] = "max RSS n/a: the operation started no process that was seen";
    }
  }
  document.findings = {
      {FindingLevel::warn,
       {},
       {},
       "the machine was moderate: load 1.4 on 2 processors before the run (quiet: up to 1)"},
      {FindingLevel::warn, "guest", "capture_2b", "every captured run waits ≥ 10 ms at exit (12 of 12)"},
      {FindingLevel::note, "guest", {}, "spawn returns before the work: its spawn phase is not compared"}};
  Calibration calibration;
  calibration.target = "node";
  calibration.version = "v24.22.3";
  calibration.row = "node_exit_1";
  calibration.metric = "total";
  calibration.quantile = "p50";
  calibration.unit = "ms";
  calibration.iterations = 20;
  calibration.at = "2026-01-30T12:00:00Z";
  calibration.first = {27.9, 28.1, 27.5, 28.4, 27.8, 28.0};
  calibration.second = {28.0, 27.6, 27.9, 28.2, 28.3, 27.7};
  document.calibrations = {calibration};
  for (Row& row : document.rows) {
    if (row.row != "node_exit_1" || row.target != "agentos") continue;
    row.trace = Trace{
        20,
        2,
        {{"kernel_spawn_process", {20, 52'000, 2600, 4100}},
         {"process_exit_cleanup_wait_and_reap", {20, 18'500, 925, 1900}},
         {"process_register_and_lifecycle", {20, 240, 12, 31}}},
        {{"process_exit_cleanup", "only its parts are recorded"},
         {"ts_poll_iterations", "nothing is polled"}},
        Lifecycle{20,
                  {{"own_read", 20}},
                  {{"poll_event", 20}},
                  {{"poll_event", 20}},
                  {{"ts_wait_total", SubPhase{20, 27.5, 31.2, 33.0}}, {"ts_poll_iterations", std::nullopt}}}};
  }
  document.guidance = {"wait until the load is below 1.0 and run again"};
  document.budgets = {{"node_exit_1.p50", "≤ 30 ms", 27.9, Verdict::pass, {}},
                      {"nested_8.p99", "≤ 200 ms", {}, Verdict::unmeasured, "no p99: n<100"}};
  return document;
}

Document example_quick_run() {
  Document document = example_run(20);
  const auto others = [](const std::string& id) { return id == "guest" || id == "agentos"; };
  std::erase_if(document.targets, [&](const Target& t) { return others(t.id); });
  std::erase_if(document.rows, [&](const Row& r) { return others(r.target); });
  std::erase_if(document.comparisons, [&](const Comparison& c) { return others(c.subject); });
  document.command = {"tare", "all", "--quick"};
  return document;
}

}  // namespace tare::report
