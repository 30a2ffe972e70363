#include "lab/report/import_lines.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tare::report {
namespace {

std::vector<ImportScenario> scenarios_of(const Document& document) {
  const json::Object* config = document.config.if_object();
  const json::Value* scenarios = config != nullptr ? config->if_contains("scenarios") : nullptr;
  if (scenarios == nullptr) return {};
  try {
    return json::read<std::vector<ImportScenario>>(*scenarios, "config.scenarios");
  } catch (const Error&) {
    return {};  // of another version: the rows are known by their names
  }
}

bool is_round_trip(const Row& row) {
  return row.row.starts_with("transport_") && row.size.has_value();
}

bool has_figures(const Row& row) {
  const auto total = row.metrics.find("total");
  return total != row.metrics.end() && total->second.summary.count > 0;
}

}  // namespace

const Metric* ImportLine::metric(std::string_view name) const {
  const auto found = row->metrics.find(std::string(name));
  return found == row->metrics.end() || found->second.summary.count == 0 ? nullptr : &found->second;
}

std::optional<double> ImportLine::mean(std::string_view name) const {
  const Metric* found = metric(name);
  return found == nullptr ? std::nullopt : found->summary.mean;
}

std::vector<std::string> import_targets(const Document& document) {
  std::vector<std::string> targets;
  for (const Target& target : document.targets) targets.push_back(target.id);
  for (const Row& row : document.rows) {
    if (std::ranges::find(targets, row.target) == targets.end()) targets.push_back(row.target);
  }
  return targets;
}

std::vector<ImportLine> import_lines(const Document& document) {
  const std::vector<ImportScenario> scenarios = scenarios_of(document);
  const auto place = [&](const std::string& row) {
    return std::ranges::find(scenarios, row, &ImportScenario::id) - scenarios.begin();
  };
  const std::vector<std::string> targets = import_targets(document);
  std::vector<ImportLine> lines;
  for (const Row& row : document.rows) {
    if (row.bench != "import" || is_round_trip(row) || !has_figures(row)) continue;
    const auto known = static_cast<std::size_t>(place(row.row));
    ImportLine line{known < scenarios.size() ? scenarios[known] : ImportScenario{}, row.target, &row};
    line.scenario.id = row.row;
    lines.push_back(std::move(line));
  }
  std::ranges::stable_sort(lines, {}, [&](const ImportLine& line) {
    return std::pair(place(line.scenario.id), std::ranges::find(targets, line.target) - targets.begin());
  });
  return lines;
}

std::vector<ImportLine> lines_of(const std::vector<ImportLine>& lines, std::string_view target) {
  std::vector<ImportLine> own;
  std::ranges::copy_if(lines, std::back_inserter(own),
                       [&](const ImportLine& line) { return line.target == target; });
  return own;
}

const ImportLine* find_line(const std::vector<ImportLine>& lines, std::string_view scenario) {
  const auto found =
      std::ranges::find_if(lines, [&](const ImportLine& line) { return line.scenario.id == scenario; });
  return found == lines.end() ? nullptr : &*found;
}

std::vector<TransportLine> transport_lines(const Document& document) {
  std::vector<TransportLine> lines;
  for (const Row& row : document.rows) {
    if (row.bench == "import" && is_round_trip(row) && has_figures(row))
      lines.push_back({*row.size, row.target, &row.metrics.at("total")});
  }
  return lines;
}

std::optional<double> startup_share(const ImportLine& line) {
  const auto overhead = line.mean("startup_overhead");
  const auto wall = line.mean("total");
  if (!overhead || !wall) return std::nullopt;
  return *wall <= 0 ? 0 : *overhead / *wall * 100;
}

}  // namespace tare::report
