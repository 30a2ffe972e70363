#include "lab/report/gateway_lines.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/report/agents_table.hpp"
#include "lab/report/gateway_table.hpp"
#include "lab/report/metric.hpp"

namespace tare::report {
namespace {

/// "embedded: " where there are several gateways.
std::string prefix_of(const Document& document, const std::string& target) {
  return document.targets.size() > 1 ? target + ": " : "";
}

std::int64_t counter(const Row& row, const std::string& name) {
  const auto found = row.counters.find(name);
  return found == row.counters.end() ? 0 : found->second;
}

std::string counted(std::int64_t n, std::string_view what) {
  return fmt::format("{} {}", text::count(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 0))), what);
}

/// "1 timeout, 1 censored (oldest 4.20 s), 3 unsent"; "" when all went well.
std::string losses(const Row& row) {
  std::vector<std::string> parts;
  for (const auto& [outcome, n] : row.outcomes) {
    if (outcome == "ok" || n == 0) continue;
    parts.push_back(counted(static_cast<std::int64_t>(n), outcome));
    if (outcome != "censored") continue;
    double oldest = 0;
    const Metric& total = row.metrics.at("total");
    for (std::size_t i = 0; i < total.samples.size(); ++i) {
      if (total.outcome[i] == Outcome::censored) oldest = std::max(oldest, total.samples[i].value_or(0));
    }
    if (oldest > 0) parts.back() += fmt::format(" (oldest {})", duration_text(oldest));
  }
  if (const auto unsent = counter(row, "unsent"); unsent > 0) parts.push_back(counted(unsent, "unsent"));
  return text::join(parts, ", ");
}

std::string leaks_text(const std::vector<GatewayRun>& runs) {
  struct Leak {
    std::optional<std::int64_t> Leaks::* member;
    const char* name;
  };
  constexpr Leak kinds[] = {{&Leaks::fds, "open files"},
                            {&Leaks::processes, "processes"},
                            {&Leaks::connections, "connections"},
                            {&Leaks::active_runs, "active runs"}};
  std::vector<std::string> held;
  bool known = false;
  for (const Leak& kind : kinds) {
    std::int64_t most = 0;
    for (const GatewayRun& run : runs) {
      const std::optional<std::int64_t>& leaked = run.leaks.*kind.member;
      known = known || leaked.has_value();
      most = std::max(most, leaked.value_or(0));
    }
    if (most > 0) held.push_back(counted(most, kind.name));
  }
  if (!known) return "unknown what is left after the load";
  return held.empty() ? "nothing left after the load" : "left after a load: " + text::join(held, ", ");
}

std::string correctness_of(const GatewayRecord& record) {
  std::uint64_t expected = 0;
  std::uint64_t gaps = 0;
  for (const GatewayRun& run : record.runs) {
    expected += run.expected_model_requests;
    gaps += run.sequence_gaps;
  }
  const GatewaySummary& summary = record.summary;
  std::vector<std::string> parts;
  if (summary.model_request_count) {
    parts.push_back(fmt::format("{} model requests, {} expected", text::count(*summary.model_request_count),
                                text::count(expected)));
  }
  parts.push_back(counted(static_cast<std::int64_t>(gaps), "sequence gaps"));
  parts.push_back(counted(static_cast<std::int64_t>(summary.degraded_samples), "degraded samples"));
  if (summary.gateway_unclean_exits)
    parts.push_back(counted(static_cast<std::int64_t>(*summary.gateway_unclean_exits), "unclean exits"));
  parts.push_back(leaks_text(record.runs));
  return text::join(parts, " · ");
}

}  // namespace

Pessimistic pessimistic(const Row& row, double q) {
  Pessimistic result;
  for (const auto& [outcome, n] : row.outcomes) result.starts += n;
  result.starts += static_cast<std::uint64_t>(std::max<std::int64_t>(counter(row, "unsent"), 0));
  result.carried = result.starts > 0 && result.starts >= measure::smallest_n(q);
  const auto total = row.metrics.find("total");
  if (!result.carried || total == row.metrics.end()) return result;
  const std::uint64_t rank = measure::quantile_index(result.starts, q);
  if (rank < total->second.summary.count) result.value = good_value_at(total->second, rank);
  return result;
}

std::string loop_name(const Document& document) {
  for (const GatewayRecord& record : document.gateways.value_or(std::vector<GatewayRecord>())) {
    for (const GatewayRun& run : record.runs)
      return run.probe_workload.pace == "closed-loop" ? "closed loop" : "open loop";
  }
  return "probes";
}

std::vector<std::string> loop_lines(const Document& document) {
  std::vector<std::string> lines;
  for (const Target& target : document.targets) {
    std::map<std::string, std::int64_t> sums;
    std::int64_t start_error = 0;
    for (const Row& row : document.rows) {
      if (row.target != target.id || !row.counters.contains("due")) continue;
      for (const char* name : {"due", "late", "unsent", "censored"}) sums[name] += counter(row, name);
      start_error = std::max(start_error, counter(row, "startErrorP99Ns"));
    }
    if (sums.empty()) continue;
    lines.push_back(fmt::format(
        "{}{} · {} · {} · {} · start error p99 ≤ {}", prefix_of(document, target.id),
        counted(sums["due"], "starts due"), counted(sums["late"], "late"), counted(sums["unsent"], "unsent"),
        counted(sums["censored"], "never came back"), duration_text(static_cast<double>(start_error) / 1e6)));
  }
  return lines;
}

std::vector<std::string> pessimistic_lines(const Document& document) {
  struct Level {
    const char* name;
    double q;
  };
  constexpr Level levels[] = {{"p50", 0.50}, {"p95", 0.95}, {"p99", 0.99}};
  std::vector<std::string> lines;
  for (const Row& row : document.rows) {
    if (!row.metrics.contains("total")) continue;
    const std::string lost = losses(row);
    if (lost.empty()) continue;
    std::vector<std::string> parts;
    for (const Level& level : levels) {
      const Pessimistic figure = pessimistic(row, level.q);
      if (!figure.carried) continue;
      parts.push_back(
          fmt::format("{} {}", level.name, figure.value ? duration_text(*figure.value) : "never"));
    }
    lines.push_back(fmt::format("{}{}: {}; of {} starts {}", prefix_of(document, row.target),
                                gateway_row_label(row.row), text::join(parts, " · "),
                                text::count(pessimistic(row, 0.5).starts), lost));
  }
  return lines;
}

std::vector<std::string> correctness_lines(const Document& document) {
  std::vector<std::string> lines;
  for (const GatewayRecord& record : document.gateways.value_or(std::vector<GatewayRecord>())) {
    if (!record.runs.empty()) lines.push_back(prefix_of(document, record.target) + correctness_of(record));
  }
  return lines;
}

std::vector<std::string> violation_lines(const Document& document) {
  std::vector<std::string> lines;
  for (const GatewayRecord& record : document.gateways.value_or(std::vector<GatewayRecord>())) {
    for (const std::string& violation : record.summary.budget_violations)
      lines.push_back(prefix_of(document, record.target) + violation);
  }
  return lines;
}

}  // namespace tare::report
