#include "lab/verdict/calibrate.hpp"

#include <algorithm>
#include <map>
#include <ranges>

#include "lab/measure/detectable.hpp"
#include "lab/measure/quantile.hpp"

namespace tare::verdict {
namespace {

using ByProcess = std::map<std::uint32_t, std::vector<double>>;

ByProcess sorted_by_process(const report::Metric& metric) {
  ByProcess processes;
  for (std::size_t i = 0; i < metric.samples.size(); ++i) {
    if (metric.samples[i] && metric.outcome[i] == report::Outcome::ok)
      processes[metric.process[i]].push_back(*metric.samples[i]);
  }
  for (auto& [process, samples] : processes) std::ranges::sort(samples);
  return processes;
}

std::uint64_t fewest_samples(const ByProcess& processes) {
  std::uint64_t fewest = UINT64_MAX;
  for (const auto& [process, samples] : processes) fewest = std::min<std::uint64_t>(fewest, samples.size());
  return processes.empty() ? 0 : fewest;
}

void add(std::vector<report::Calibration>& out, const report::Calibration& names, const ByProcess& first,
         const ByProcess& second, const char* quantile, double q) {
  const std::uint64_t samples = std::min(fewest_samples(first), fewest_samples(second));
  if (samples < measure::smallest_n(q)) return;
  report::Calibration entry = names;
  entry.quantile = quantile;
  entry.iterations = samples;
  for (const auto& [process, values] : first) {
    const auto other = second.find(process);
    if (other == second.end()) continue;
    entry.first.push_back(measure::quantile_of_sorted(values, q));
    entry.second.push_back(measure::quantile_of_sorted(other->second, q));
  }
  if (entry.first.size() >= fewest_calibration_processes) out.push_back(std::move(entry));
}

std::vector<std::string> total_first(const report::Row& row) {
  std::vector<std::string> names;
  for (const auto& [name, metric] : row.metrics) names.push_back(name);
  std::ranges::stable_partition(names, [](const std::string& name) { return name == "total"; });
  return names;
}

}  // namespace

std::vector<report::Calibration> calibrate(const report::Document& document,
                                           const std::vector<Twins>& twins) {
  std::vector<report::Calibration> entries;
  for (const Twins& pair : twins) {
    const auto target = std::ranges::find(document.targets, pair.target, &report::Target::id);
    for (const report::Row& row : document.rows) {
      if (row.target != pair.target || row.status != report::RowStatus::ok) continue;
      const report::Row* again = report::find_row(document, row.row, pair.again);
      if (again == nullptr || again->status != report::RowStatus::ok) continue;
      for (const std::string& name : total_first(row)) {
        const report::Metric& metric = row.metrics.at(name);
        const auto twin = again->metrics.find(name);
        if (twin == again->metrics.end()) continue;
        report::Calibration names;
        names.target = pair.target;
        if (target != document.targets.end()) names.version = target->version;
        names.row = row.row;
        names.metric = name;
        names.unit = metric.unit;
        names.at = document.started_at;
        const ByProcess first = sorted_by_process(metric);
        const ByProcess second = sorted_by_process(twin->second);
        add(entries, names, first, second, "p50", 0.50);
        add(entries, names, first, second, "p95", 0.95);
      }
    }
  }
  return entries;
}

std::vector<Detectable> detectable(const std::vector<report::Calibration>& entries) {
  using measure::Pairing;
  std::vector<Detectable> lines;
  for (const report::Calibration& entry : entries) {
    const auto effect = [&](Pairing pairing, std::uint64_t processes) {
      return measure::minimum_detectable(entry.first, entry.second, pairing, processes);
    };
    lines.push_back({entry.target, entry.row, entry.metric, entry.quantile, entry.iterations,
                     entry.first.size(), effect(Pairing::paired, 1), effect(Pairing::unpaired, 4),
                     effect(Pairing::unpaired, 10)});
  }
  return lines;
}

void attach_calibrations(report::Document& document, const std::vector<report::Calibration>& known) {
  std::vector<report::Calibration> relevant;
  for (const report::Calibration& entry : known) {
    if (report::find_row(document, entry.row, entry.target) != nullptr) relevant.push_back(entry);
  }
  document.calibrations = relevant.empty() ? std::nullopt : std::optional(std::move(relevant));
}

}  // namespace tare::verdict
