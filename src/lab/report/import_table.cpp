#include "lab/report/import_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/lane_tables.hpp"

namespace tare::report {
namespace {

Cell p50_of(const Figures& figures, const std::string& row, const Target& lane, const char* metric) {
  const Metric* found = figures.metric(row, lane.id, metric);
  if (found == nullptr || !found->summary.p50) return {};
  return {text::significant(*found->summary.p50)};
}

Cell wall_cell(const Figures& figures, const std::string& row, const Target& lane, Footnotes& notes) {
  const Row* found = figures.row(row, lane.id);
  if (!figures.measured(row, lane.id)) {
    const bool failed = found != nullptr && found->status == RowStatus::failed;
    const std::string mark = notes.mark(lane.id + ": " + figures.why_missing(row, lane.id));
    return failed ? Cell{"failed", Tone::bad, mark} : Cell{"n/a", Tone::plain, mark};
  }
  Cell cell = p50_of(figures, row, lane, "total");
  if (const std::string failure = failure_text(*found, *figures.metric(row, lane.id, "total"));
      !failure.empty()) {
    cell.mark = notes.mark(fmt::format("{}, {}: {}", lane.id, row, failure));
    cell.tone = Tone::bad;
  }
  return cell;
}

const Comparison* wall_ratio(const Figures& figures, const std::string& row, const Target& lane) {
  return figures.comparison(ComparisonKind::emulation, row, "total", "p50", lane.id);
}

/// The lane that a lane is compared with; "" when it is with none.
std::string compared_with(const Figures& figures, const Target& lane) {
  for (const Comparison& one : figures.document().comparisons) {
    if (one.subject == lane.id && one.kind == ComparisonKind::emulation) return one.reference;
  }
  return {};
}

Lanes lane_columns(const Figures& figures, const Target& lane, ImportColumns columns) {
  Lanes lanes{lane.id, {{"wall"}}};
  if (columns != ImportColumns::ratio) {
    lanes.columns.push_back({"execution"});
    lanes.columns.push_back({"overhead"});
  }
  const std::string reference = compared_with(figures, lane);
  if (reference.empty()) return lanes;
  lanes.columns.push_back({"÷ " + reference});
  if (columns == ImportColumns::interval) lanes.columns.push_back({"95 % CI"});
  return lanes;
}

void add_cells(TableLine& line, const Figures& figures, const std::string& row, const Target& lane,
               ImportColumns columns, Footnotes& notes) {
  line.cells.push_back(wall_cell(figures, row, lane, notes));
  if (columns != ImportColumns::ratio) {
    line.cells.push_back(p50_of(figures, row, lane, "guest_execution"));
    line.cells.push_back(p50_of(figures, row, lane, "startup_overhead"));
  }
  if (compared_with(figures, lane).empty()) return;
  const Comparison* ratio = figures.measured(row, lane.id) ? wall_ratio(figures, row, lane) : nullptr;
  line.cells.push_back(ratio != nullptr && ratio->ratio ? Cell{ratio_figure(*ratio).text} : Cell{});
  if (columns != ImportColumns::interval) return;
  line.cells.push_back(ratio != nullptr && ratio->interval ? Cell{interval_text(*ratio->interval)} : Cell{});
}

bool has_some(const Figures& figures, const Target& lane) {
  return std::ranges::any_of(figures.rows(), [&](const std::string& row) {
    const Row* found = figures.row(row, lane.id);
    return figures.measured(row, lane.id) || (found != nullptr && found->status == RowStatus::failed);
  });
}

}  // namespace

Table import_table(const Figures& figures, ImportColumns columns, Footnotes& notes) {
  Table table;
  table.title = "import, p50 in ms";
  std::vector<const Target*> lanes;
  for (const Target& target : figures.targets()) {
    if (!has_some(figures, target)) continue;
    lanes.push_back(&target);
    table.lanes.push_back(lane_columns(figures, target, columns));
  }
  for (const std::string& row : figures.rows()) {
    TableLine line{{row}, {}, n_text(figures, row, lanes)};
    for (const Target* lane : lanes) add_cells(line, figures, row, *lane, columns, notes);
    table.lines.push_back(std::move(line));
  }
  return table;
}

}  // namespace tare::report
