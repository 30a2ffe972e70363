#include "lab/bench/gateway/budgets.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lab/bench/gateway/probes.hpp"

namespace tare::gateway_bench {
namespace {

/// In the words of the seed.
std::string subject_of(Probe probe) {
  if (probe == Probe::fresh_connection) return "fresh Gateway connection";
  if (probe == Probe::readyz) return "Gateway readyz probe";
  if (probe == Probe::control_ui) return "Gateway Control UI probe";
  return fmt::format("Gateway {} probe", name_of(probe));
}

std::uint64_t failed_in(const report::Row& row) {
  std::uint64_t failed = 0;
  for (const auto& [outcome, n] : row.outcomes) failed += outcome == "ok" ? 0 : n;
  return failed;
}

report::Budget judge(const report::Row* row, Probe probe, const std::string& target, std::uint64_t limit_ms) {
  report::Budget budget;
  budget.id = fmt::format("{}.{}", row_of(probe), target);
  budget.limit = fmt::format("every sample ≤ {} ms", limit_ms);
  const auto total = row == nullptr ? decltype(row->metrics.end()){} : row->metrics.find("total");
  if (row == nullptr || total == row->metrics.end() || total->second.samples.empty()) {
    budget.reason = row != nullptr && row->reason ? *row->reason : "no sample was taken";
    return budget;
  }
  const report::Metric& metric = total->second;
  budget.verdict = report::Verdict::pass;
  budget.measured = metric.summary.max;
  for (std::size_t i = 0; i < metric.samples.size(); ++i) {
    const bool ok = metric.outcome[i] == report::Outcome::ok;
    const double latency = metric.samples[i].value_or(0);
    if (ok && latency <= static_cast<double>(limit_ms)) continue;
    budget.verdict = report::Verdict::fail;
    budget.reason = fmt::format("{} exceeded {}ms: ok={} latencyMs={:.1f} error={}", subject_of(probe),
                                limit_ms, ok, latency, metric.error[i].value_or("none"));
    return budget;
  }
  // Of the samples that are not kept the largest one tells, and what failed is counted.
  const auto unsent = row->counters.find("unsent");
  const std::uint64_t failed = failed_in(*row);
  if (metric.summary.max.value_or(0) > static_cast<double>(limit_ms)) {
    budget.verdict = report::Verdict::fail;
    budget.reason = fmt::format("the longest took {:.1f} ms", *metric.summary.max);
  } else if (failed > 0) {
    budget.verdict = report::Verdict::fail;
    budget.reason = fmt::format("{} that are beyond the samples kept did not end well", failed);
  } else if (unsent != row->counters.end() && unsent->second > 0) {
    budget.verdict = report::Verdict::fail;
    budget.reason = fmt::format("{} starts were left out, as too much was open", unsent->second);
  }
  return budget;
}

}  // namespace

std::vector<report::Budget> judge_budgets(const report::Document& document, const Options& options) {
  std::vector<report::Budget> budgets;
  for (const std::string& target : options.targets) {
    for (const Probe probe : probes_of(options)) {
      const auto& limit =
          probe == Probe::fresh_connection ? options.max_handshake_ms : options.max_control_ms;
      if (limit)
        budgets.push_back(judge(report::find_row(document, row_of(probe), target), probe, target, *limit));
    }
  }
  return budgets;
}

}  // namespace tare::gateway_bench
