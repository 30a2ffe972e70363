#include "lab/report/memory_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "lab/report/lane_tables.hpp"

namespace tare::report {
namespace {

/// In the order of the life of a runtime, with what a column calls them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> moments{{{"idle", "idle"},
                                                                                {"vm", "vm"},
                                                                                {"live_guests", "live"},
                                                                                {"per_guest", "per guest"},
                                                                                {"after_kill", "killed"},
                                                                                {"after_dispose", "disposed"},
                                                                                {"before", "before"},
                                                                                {"after", "after"},
                                                                                {"growth", "growth"}}};

/// "memory" of "memory_64": what rows of other sizes share.
std::string kind_of(const std::string& row) {
  return row.substr(0, row.rfind('_'));
}

bool has_sizes(const Figures& figures, const std::string& name) {
  return std::ranges::any_of(figures.targets(), [&](const Target& target) {
    const Row* row = figures.row(name, target.id);
    return row != nullptr &&
           std::ranges::any_of(row->metrics, [](const auto& one) { return one.second.unit == "bytes"; });
  });
}

/// The rows of one kind and who has figures of them.
class Kind {
 public:
  Kind(const Figures& figures, std::vector<std::string> rows, Footnotes& notes)
      : figures_(figures), rows_(std::move(rows)), notes_(notes) {
    for (const Target& target : figures.targets()) {
      if (std::ranges::any_of(rows_, [&](const auto& row) { return figures.measured(row, target.id); }))
        lanes_.push_back(&target);
    }
    for (const auto& [metric, head] : moments) {
      const bool known = std::ranges::any_of(rows_, [&](const std::string& row) {
        return std::ranges::any_of(
            lanes_, [&](const Target* lane) { return figures.metric(row, lane->id, metric) != nullptr; });
      });
      if (known) columns_.emplace_back(metric, head);
    }
  }

  Table table() {
    Table table;
    table.title = kind_of(rows_.front()) + ", p50";
    for (const Target* lane : lanes_) {
      Lanes columns{lane->id, {}};
      for (const auto& [metric, head] : columns_) columns.columns.push_back({std::string(head)});
      table.lanes.push_back(std::move(columns));
    }
    for (const std::string& row : rows_) {
      TableLine line{{row}, {}, n_text(figures_, row, lanes_)};
      for (const Target* lane : lanes_) add_cells(line, row, *lane);
      table.lines.push_back(std::move(line));
    }
    return table;
  }

 private:
  void add_cells(TableLine& line, const std::string& row, const Target& lane) {
    if (!figures_.measured(row, lane.id)) {
      const Row* found = figures_.row(row, lane.id);
      const bool failed = found != nullptr && found->status == RowStatus::failed;
      line.cells.push_back({failed ? "failed" : "n/a", failed ? Tone::bad : Tone::plain,
                            notes_.mark(lane.id + ": " + figures_.why_missing(row, lane.id))});
      line.cells.resize(line.cells.size() + columns_.size() - 1);
      return;
    }
    const std::string failure =
        failure_text(*figures_.row(row, lane.id), *figures_.metric(row, lane.id, "total"));
    for (const auto& [name, head] : columns_) {
      const Metric* metric = figures_.metric(row, lane.id, name);
      const bool known = metric != nullptr && metric->summary.p50.has_value();
      Cell cell{known ? with_unit(*metric->summary.p50, metric->unit) : "n/a"};
      if (!failure.empty() && name == columns_.front().first) {
        cell.mark = notes_.mark(lane.id + ", " + row + ": " + failure);
        cell.tone = Tone::bad;
      }
      line.cells.push_back(std::move(cell));
    }
  }

  const Figures& figures_;
  std::vector<std::string> rows_;
  Footnotes& notes_;
  std::vector<const Target*> lanes_;
  std::vector<std::pair<std::string_view, std::string_view>> columns_;
};

}  // namespace

std::vector<std::string> memory_rows(const Figures& figures) {
  std::vector<std::string> kinds;
  for (const std::string& row : figures.rows()) {
    const bool measured = std::ranges::any_of(
        figures.targets(), [&](const Target& target) { return figures.measured(row, target.id); });
    if (measured && has_sizes(figures, row)) kinds.push_back(kind_of(row));
  }
  std::vector<std::string> rows;
  for (const std::string& row : figures.rows()) {
    if (std::ranges::find(kinds, kind_of(row)) != kinds.end()) rows.push_back(row);
  }
  return rows;
}

std::vector<Table> memory_tables(const Figures& figures, const std::vector<std::string>& rows,
                                 Footnotes& notes) {
  std::vector<std::vector<std::string>> kinds;
  for (const std::string& row : rows) {
    const auto same =
        std::ranges::find_if(kinds, [&](const auto& kind) { return kind_of(kind.front()) == kind_of(row); });
    if (same == kinds.end()) {
      kinds.push_back({row});
    } else {
      same->push_back(row);
    }
  }
  std::vector<Table> tables;
  for (std::vector<std::string>& kind : kinds)
    tables.push_back(Kind(figures, std::move(kind), notes).table());
  return tables;
}

}  // namespace tare::report
