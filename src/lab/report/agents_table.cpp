#include "lab/report/agents_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/lane_tables.hpp"

namespace tare::report {
namespace {

/// "admission" of "admission_8".
std::string scenario_of(const std::string& row) {
  return row.substr(0, row.rfind('_'));
}

std::string size_of(const std::string& row) {
  const auto n = text::to_int(row.substr(row.rfind('_') + 1));
  return n && *n >= 0 ? text::count(static_cast<std::uint64_t>(*n)) : row;
}

Cell p50_cell(const Figures& figures, const std::string& row, const Target& lane, Footnotes& notes) {
  const Row* found = figures.row(row, lane.id);
  if (!figures.measured(row, lane.id)) {
    const bool failed = found != nullptr && found->status == RowStatus::failed;
    const std::string mark = notes.mark(lane.id + ": " + figures.why_missing(row, lane.id));
    return failed ? Cell{"failed", Tone::bad, mark} : Cell{"n/a", Tone::plain, mark};
  }
  const Metric& metric = *figures.metric(row, lane.id, "total");
  Cell cell{duration_text(*metric.summary.p50)};
  if (const std::string failure = failure_text(*found, metric); !failure.empty()) {
    cell.mark = notes.mark(fmt::format("{}, {}: {}", lane.id, row, failure));
    cell.tone = Tone::bad;
  }
  return cell;
}

Cell interval_cell(const Metric& metric) {
  const auto& interval = metric.summary.p50_interval;
  if (!interval) return {interval_figure(metric.summary, "p50").reason};
  return {duration_text((*interval)[0]) + "–" + duration_text((*interval)[1])};
}

/// Whether the reference is not this lane, and which one it is.
std::string reference_of(const Figures& figures, const Target& lane) {
  for (const Comparison& one : figures.document().comparisons) {
    if (one.subject == lane.id && one.kind == ComparisonKind::emulation) return one.reference;
  }
  return {};
}

Cell ratio_cell(const Figures& figures, const std::string& row, const Target& lane, Footnotes& notes) {
  const Comparison* found = figures.comparison(ComparisonKind::emulation, row, "total", "p50", lane.id);
  if (found == nullptr) return {};
  const Figure ratio = ratio_figure(*found);
  if (!ratio) return {"n/a", Tone::plain, notes.mark(fmt::format("{}, {}: {}", lane.id, row, ratio.reason))};
  return {ratio.text};
}

Cell memory_cell(const Figures& figures, const std::string& row, const Target& lane) {
  const Row* found = figures.row(row, lane.id);
  const Figure memory = found != nullptr ? memory_figure(*found) : Figure{};
  return {memory ? memory.text : "n/a"};
}

Lanes columns_of(const Figures& figures, const Target& lane, AgentColumns columns) {
  Lanes lanes{lane.id, {{"p50"}}};
  if (columns == AgentColumns::interval) lanes.columns.push_back({"95 % CI"});
  if (const std::string reference = reference_of(figures, lane); !reference.empty())
    lanes.columns.push_back({"÷ " + reference});
  if (columns != AgentColumns::ratio) lanes.columns.push_back({"memory"});
  return lanes;
}

bool shown(const Figures& figures, const Target& lane) {
  return std::ranges::any_of(figures.rows(), [&](const std::string& row) {
    const Row* found = figures.row(row, lane.id);
    return figures.measured(row, lane.id) || (found != nullptr && found->status == RowStatus::failed);
  });
}

}  // namespace

std::string duration_text(double ms) {
  struct Scale {
    double at_least;  ///< ms; a little less, so that 999.9 µs is 1.00 ms
    double divisor;
    const char* unit;
  };
  constexpr Scale scales[] = {{999.5, 1e3, "s"}, {0.9995, 1, "ms"}, {0.9995e-3, 1e-3, "µs"}};
  for (const Scale& scale : scales) {
    if (ms >= scale.at_least) return text::significant(ms / scale.divisor) + " " + scale.unit;
  }
  return text::significant(ms * 1e6) + " ns";
}

Table agents_table(const Figures& figures, AgentColumns columns, Footnotes& notes) {
  Table table;
  table.title = "agents";
  table.label_columns = 2;
  std::vector<const Target*> lanes;
  for (const Target& target : figures.targets()) {
    if (!shown(figures, target)) continue;
    lanes.push_back(&target);
    table.lanes.push_back(columns_of(figures, target, columns));
  }
  for (const std::string& row : figures.rows()) {
    TableLine line{{scenario_of(row), size_of(row)}, {}, n_text(figures, row, lanes)};
    for (const Target* lane : lanes) {
      const bool measured = figures.measured(row, lane->id);
      line.cells.push_back(p50_cell(figures, row, *lane, notes));
      if (columns == AgentColumns::interval)
        line.cells.push_back(measured ? interval_cell(*figures.metric(row, lane->id, "total")) : Cell{});
      if (!reference_of(figures, *lane).empty())
        line.cells.push_back(measured ? ratio_cell(figures, row, *lane, notes) : Cell{});
      if (columns != AgentColumns::ratio)
        line.cells.push_back(measured ? memory_cell(figures, row, *lane) : Cell{});
    }
    table.lines.push_back(std::move(line));
  }
  return table;
}

std::vector<std::string> halves(const Figures& figures) {
  std::vector<std::string> lines;
  for (const Row& row : figures.document().rows) {
    const auto spawn = row.metrics.find("spawn");
    const auto settle = row.metrics.find("settle");
    if (spawn == row.metrics.end() || settle == row.metrics.end()) continue;
    if (!spawn->second.summary.p50 || !settle->second.summary.p50) continue;
    lines.push_back(fmt::format("{}, {}: spawn {} · settle {}", row.row, row.target,
                                duration_text(*spawn->second.summary.p50),
                                duration_text(*settle->second.summary.p50)));
  }
  return lines;
}

std::vector<std::string> costs_per_row(const Figures& figures) {
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  for (const Row& row : figures.document().rows) {
    const auto metric = row.metrics.find("per_row");
    if (metric == row.metrics.end() || !metric->second.summary.p50) continue;
    const std::string name = scenario_of(row.row) + ", " + row.target;
    auto entry = std::ranges::find(found, name, &std::pair<std::string, std::vector<std::string>>::first);
    if (entry == found.end()) entry = found.insert(found.end(), {name, {}});
    entry->second.push_back(
        fmt::format("{} ({} rows)", duration_text(*metric->second.summary.p50), size_of(row.row)));
  }
  std::vector<std::string> lines;
  for (const auto& [name, costs] : found) lines.push_back(name + ": " + text::join(costs, " · "));
  return lines;
}

std::string memory_line(const Document& document) {
  if (!document.memory) return {};
  const auto size = [](const std::optional<std::uint64_t>& bytes) {
    return bytes ? text::bytes(*bytes) : std::string("unavailable");
  };
  return fmt::format("lab {}, then {} · largest worker {}", size(document.memory->rss_start_bytes),
                     size(document.memory->rss_end_bytes),
                     size(document.memory->worker_process_max_rss_bytes));
}

}  // namespace tare::report
