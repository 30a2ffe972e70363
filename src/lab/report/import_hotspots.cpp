#include "lab/report/import_hotspots.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tare::report {
namespace {

constexpr double bytes_per_mib = 1024.0 * 1024.0;

using HotspotFigure = std::optional<double> (*)(const ImportLine&);

struct HotspotMetric {
  const char* metric;
  const char* label;
  const char* dimension;
  const char* unit;
  HotspotFigure value;
};

std::optional<double> scaled(std::optional<double> value, double factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

std::optional<double> wall_spread(const ImportLine& line) {
  const Metric* wall = line.metric("total");
  return wall != nullptr ? wall->summary.stddev : std::nullopt;
}

std::optional<double> wall_range(const ImportLine& line) {
  const Metric* wall = line.metric("total");
  if (wall == nullptr || !wall->summary.min || !wall->summary.max) return std::nullopt;
  return *wall->summary.max - *wall->summary.min;
}

const std::array<HotspotMetric, 13> hotspot_metrics{{
    {"wall_mean_ms", "Wall Time", "time", "ms", [](const ImportLine& line) { return line.mean("total"); }},
    {"wall_stddev_ms", "Wall Time Stddev", "stability", "ms", wall_spread},
    {"wall_range_ms", "Wall Time Range", "stability", "ms", wall_range},
    {"guest_import_mean_ms", "Guest Import Time", "time", "ms",
     [](const ImportLine& line) { return line.mean("guest_execution"); }},
    {"startup_overhead_mean_ms", "Startup Overhead", "time", "ms",
     [](const ImportLine& line) { return line.mean("startup_overhead"); }},
    {"context_setup_mean_ms", "Context Setup Phase", "time", "ms",
     [](const ImportLine& line) { return line.mean("context_setup"); }},
    {"startup_phase_mean_ms", "Runtime Startup Phase", "time", "ms",
     [](const ImportLine& line) { return line.mean("startup"); }},
    {"guest_execution_mean_ms", "Guest Execution Phase", "time", "ms",
     [](const ImportLine& line) { return line.mean("guest_execution"); }},
    {"completion_mean_ms", "Completion/Stdio Phase", "time", "ms",
     [](const ImportLine& line) { return line.mean("completion"); }},
    {"startup_share_pct", "Startup Share Of Wall", "share", "pct", startup_share},
    {"rss_mean_mib", "RSS", "memory", "MiB",
     [](const ImportLine& line) { return scaled(line.mean("rss"), 1 / bytes_per_mib); }},
    {"heap_mean_mib", "Heap Used", "memory", "MiB",
     [](const ImportLine& line) { return scaled(line.mean("heap_used"), 1 / bytes_per_mib); }},
    {"cpu_total_mean_ms", "Total CPU", "cpu", "ms",
     [](const ImportLine& line) { return line.mean("cpu_total"); }},
}};

void push_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

}  // namespace

std::vector<HotspotRanking> hotspot_rankings(const std::vector<ImportLine>& lines) {
  std::vector<HotspotRanking> rankings;
  for (const HotspotMetric& metric : hotspot_metrics) {
    HotspotRanking ranking{metric.metric, metric.label, metric.dimension, metric.unit, {}, {}};
    for (const ImportLine& line : lines) {
      if (const auto value = metric.value(line)) {
        ranking.ranked.push_back(
            {0, line.scenario.id, line.scenario.workload, line.target, line.scenario.mode, *value});
      } else {
        ranking.without.push_back(line.scenario.id);
      }
    }
    std::ranges::stable_sort(ranking.ranked, [](const Hotspot& a, const Hotspot& b) {
      return a.value != b.value ? a.value > b.value : a.scenario < b.scenario;
    });
    for (std::size_t i = 0; i < ranking.ranked.size(); ++i) ranking.ranked[i].rank = i + 1;
    rankings.push_back(std::move(ranking));
  }
  return rankings;
}

std::string hotspot_value(const std::string& unit, double value) {
  return unit == "pct" ? fmt::format("{:.1f}%", value) : fmt::format("{:.2f}", value);
}

std::vector<ControlRow> control_matrix(const std::vector<ImportLine>& lines) {
  std::vector<ControlRow> rows;
  for (const ImportLine& line : lines) {
    auto found = std::ranges::find(rows, line.scenario.workload, &ControlRow::workload);
    if (found == rows.end()) found = rows.insert(rows.end(), {line.scenario.workload, {}, {}, {}});
    push_once(found->targets, line.target);
    push_once(found->modes, line.scenario.mode);
    push_once(found->scenarios, line.scenario.id);
  }
  return rows;
}

}  // namespace tare::report
