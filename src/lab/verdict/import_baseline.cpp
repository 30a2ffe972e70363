#include "lab/verdict/import_baseline.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/report/benches.hpp"
#include "lab/report/import_lines.hpp"
#include "lab/verdict/compare.hpp"
#include "lab/verdict/units.hpp"

namespace tare::verdict {
namespace {

constexpr std::string_view import_bench_name = "import";
const std::set<std::string> judged_metrics{"total", "guest_execution", "startup_overhead"};

std::string place_of(const std::string& row, const std::string& target) {
  return fmt::format("{} on {}", row, target);
}

std::optional<report::MeanDelta> mean_delta(const report::ImportLine& base, const report::ImportLine& now,
                                            std::string_view metric) {
  const report::Metric* before = base.metric(metric);
  const report::Metric* after = now.metric(metric);
  if (before == nullptr || after == nullptr || !before->summary.mean || !after->summary.mean)
    return std::nullopt;
  const auto before_ms = unit_factor(before->unit, "ms");
  const auto after_ms = unit_factor(after->unit, "ms");
  if (!before_ms || !after_ms) return std::nullopt;
  report::MeanDelta delta;
  delta.base = *before->summary.mean * *before_ms;
  delta.now = *after->summary.mean * *after_ms;
  delta.delta = delta.now - delta.base;
  delta.percent = delta.base <= 0 ? 0 : delta.delta / delta.base * 100;
  return delta;
}

report::ImportDelta delta_of(const report::ImportLine& base, const report::ImportLine& now) {
  report::ImportDelta delta;
  delta.scenario = now.scenario.id;
  delta.target = now.target;
  delta.description = now.scenario.description;
  delta.wall = mean_delta(base, now, "total").value_or(report::MeanDelta{});
  delta.guest_import = mean_delta(base, now, "guest_execution");
  delta.startup_overhead = mean_delta(base, now, "startup_overhead");
  delta.context_setup = mean_delta(base, now, "context_setup");
  delta.startup = mean_delta(base, now, "startup");
  delta.completion = mean_delta(base, now, "completion");
  return delta;
}

/// The rows of the bench with the metrics that are judged alone: every further one would take from what the
/// correction for their number leaves.
report::Document judged_part(const report::Document& document) {
  report::Document part = document;
  for (report::Row& row : part.rows)
    std::erase_if(row.metrics, [](const auto& entry) { return !judged_metrics.contains(entry.first); });
  return part;
}

std::vector<report::Comparison> judged(const report::Document& baseline, std::string_view source,
                                       const report::Document& now) {
  const report::Document base_part = judged_part(baseline);
  const report::Document now_part = judged_part(now);
  const Comparison result =
      compare({std::string(source), {}, &base_part}, {"this run", {}, &now_part}, CompareOptions{});
  std::vector<report::Comparison> all;
  for (const Entry& entry : result.entries) {
    if (entry.change == Change::missing || entry.quantile != "p50") continue;
    report::Comparison one;
    one.kind = report::ComparisonKind::baseline;
    one.row = entry.row;
    one.metric = entry.metric;
    one.quantile = entry.quantile;
    one.subject = entry.new_target;
    one.reference = source;
    one.ratio = entry.ratio;
    one.interval = entry.interval;
    one.difference = entry.difference;
    one.difference_interval = entry.difference_interval;
    one.unit = entry.unit;
    one.pairs = entry.pairs;
    one.method = entry.method;
    one.verdict = entry.verdict;
    one.reason = entry.reason;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

report::Document import_baseline_of(const report::Document& document, std::string_view source) {
  const std::vector<std::string> benches = report::benches_of(document);
  if (std::ranges::find(benches, import_bench_name) == benches.end()) {
    throw Error(ErrorCode::input, fmt::format("{} is no baseline of the import bench", source),
                benches.empty() ? "it has no rows" : "it has rows of " + text::join(benches, ", "));
  }
  report::Document part = report::part_of(document, import_bench_name);
  for (const report::Row& row : part.rows) {
    for (const auto& [name, metric] : row.metrics) {
      const bool is_size = name == "rss" || name == "heap_used";
      if (unit_factor(metric.unit, is_size ? "bytes" : "ms")) continue;
      throw Error(ErrorCode::input, fmt::format("{}: {}", source, place_of(row.row, row.target)),
                  fmt::format("{} is in '{}', which is no {}", name, text::one_line(metric.unit),
                              is_size ? "size" : "time"));
    }
  }
  return part;
}

std::vector<report::Finding> baseline_findings(const report::Document& baseline,
                                               const report::ImportBaseline& comparison,
                                               const report::Document& now) {
  std::vector<report::Finding> findings;
  const auto warn = [&](const std::string& text) {
    findings.push_back({report::FindingLevel::warn, {}, {}, "baseline: " + text});
  };
  if (baseline.host.cpu != now.host.cpu || baseline.host.logical_cpus != now.host.logical_cpus)
    warn("it was measured on another machine, and no difference is that of the programs alone");
  if (baseline.tool.build != now.tool.build)
    warn(fmt::format("it was measured by another build of tare ({})", text::one_line(baseline.tool.build)));
  if (!baseline.complete) warn("it is of a run that was cut short");
  if (!comparison.missing.empty())
    warn(fmt::format("it lacks {} of this run: {}", comparison.missing.size(),
                     text::join(comparison.missing, ", ")));
  if (!comparison.baseline_only.empty()) {
    findings.push_back(
        {report::FindingLevel::note,
         {},
         {},
         fmt::format("baseline: {} of it this run does not have: {}", comparison.baseline_only.size(),
                     text::join(comparison.baseline_only, ", "))});
  }
  return findings;
}

report::ImportBaseline compare_import(const report::Document& baseline, std::string_view source,
                                      const report::Document& now) {
  report::ImportBaseline result;
  result.source = source;
  result.started_at = baseline.started_at;
  const std::vector<report::ImportLine> before = report::import_lines(baseline);
  const std::vector<report::ImportLine> after = report::import_lines(now);
  const auto counterpart = [](const std::vector<report::ImportLine>& lines, const report::ImportLine& one) {
    return std::ranges::find_if(lines, [&](const report::ImportLine& line) {
      return line.scenario.id == one.scenario.id && line.target == one.target;
    });
  };
  for (const report::ImportLine& line : after) {
    const auto base = counterpart(before, line);
    if (base == before.end()) {
      result.missing.push_back(place_of(line.scenario.id, line.target));
    } else {
      result.deltas.push_back(delta_of(*base, line));
    }
  }
  for (const report::ImportLine& line : before) {
    if (counterpart(after, line) == after.end())
      result.baseline_only.push_back(place_of(line.scenario.id, line.target));
  }
  result.comparisons = judged(baseline, source, now);
  return result;
}

}  // namespace tare::verdict
