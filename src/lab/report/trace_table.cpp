#include "lab/report/trace_table.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tare::report {
namespace {

std::vector<const Row*> traced(const Document& document, std::string_view name) {
  std::vector<const Row*> rows;
  for (const Row& row : document.rows) {
    if (row.row == name && row.trace) rows.push_back(&row);
  }
  return rows;
}

}  // namespace

std::vector<std::string> traced_rows(const Document& document) {
  std::vector<std::string> names;
  for (const Row& row : document.rows) {
    if (row.trace && std::ranges::find(names, row.row) == names.end()) names.push_back(row.row);
  }
  return names;
}

Table trace_table(const Document& document, std::string_view row, std::size_t most) {
  const std::vector<const Row*> rows = traced(document, row);
  std::map<std::string, double> weights;
  for (const Row* one : rows) {
    for (const auto& [name, stage] : one->trace->stages) weights[name] += stage.total_us;
  }
  std::vector<std::pair<std::string, double>> stages(weights.begin(), weights.end());
  std::ranges::stable_sort(stages, std::greater<>(), &std::pair<std::string, double>::second);
  if (stages.size() > most) stages.resize(most);

  Table table;
  table.title = fmt::format("stages of {}, µs", row);
  for (const Row* one : rows) table.lanes.push_back({one->target, {{"calls"}, {"mean"}, {"max ever"}}});
  for (const auto& [name, weight] : stages) {
    TableLine line{{name}, {}, {}};
    for (const Row* one : rows) {
      const auto found = one->trace->stages.find(name);
      if (found == one->trace->stages.end()) {
        line.cells.insert(line.cells.end(), 3, Cell{"–"});
        continue;
      }
      const Stage& stage = found->second;
      line.cells.push_back({text::count(stage.calls)});
      line.cells.push_back({text::significant(stage.avg_us)});
      line.cells.push_back({text::significant(stage.max_us)});
    }
    table.lines.push_back(std::move(line));
  }
  return table;
}

Table lifecycle_table(const Document& document, std::string_view row) {
  std::vector<const Row*> rows = traced(document, row);
  std::erase_if(rows, [](const Row* one) { return !one->trace->lifecycle; });
  std::set<std::string> names;
  Table table;
  table.title = fmt::format("lives of {}, ms", row);
  for (const Row* one : rows) {
    table.lanes.push_back({one->target, {{"p50"}, {"p95"}, {"max"}}});
    for (const auto& [name, phase] : one->trace->lifecycle->sub_phases) {
      if (phase) names.insert(name);
    }
  }
  for (const std::string& name : names) {
    TableLine line{{name}, {}, {}};
    for (const Row* one : rows) {
      const auto& phases = one->trace->lifecycle->sub_phases;
      const auto found = phases.find(name);
      if (found == phases.end() || !found->second) {
        line.cells.insert(line.cells.end(), 3, Cell{"–"});
        continue;
      }
      const SubPhase& phase = *found->second;
      const std::string p95 = phase.p95 ? text::significant(*phase.p95) : "n/a (n<20)";
      for (const std::string& ms : {text::significant(phase.p50), p95, text::significant(phase.max)})
        line.cells.push_back({ms});
    }
    table.lines.push_back(std::move(line));
  }
  return table;
}

std::vector<std::string> lifecycle_lines(const Document& document) {
  const auto counted = [](const std::map<std::string, std::uint64_t>& counts) {
    std::vector<std::string> parts;
    for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} {}", name, text::count(count)));
    return text::join(parts, ", ");
  };
  std::vector<std::string> lines;
  for (const Row& row : document.rows) {
    if (!row.trace || !row.trace->lifecycle) continue;
    const Lifecycle& lives = *row.trace->lifecycle;
    lines.push_back(fmt::format("{}, {}: ends known by {}; first waited for by {}", row.target, row.row,
                                counted(lives.resolution_routes), counted(lives.first_waiters)));
  }
  return lines;
}

std::vector<std::string> absent_stages(const Document& document) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> by_reason;
  for (const Row& row : document.rows) {
    if (!row.trace) continue;
    for (const auto& [stage, why] : row.trace->absent) {
      std::vector<std::string>& stages = by_reason[{row.target, why}];
      if (std::ranges::find(stages, stage) == stages.end()) stages.push_back(stage);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [key, stages] : by_reason)
    lines.push_back(fmt::format("{} has no {}: {}", key.first, text::join(stages, ", "), key.second));
  return lines;
}

}  // namespace tare::report
