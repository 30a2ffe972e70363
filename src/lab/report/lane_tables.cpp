#include "lab/report/lane_tables.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/memory_table.hpp"

namespace tare::report {
namespace {

/// A reason this short stands in the cell itself.
constexpr std::size_t short_reason = 12;

Cell to_cell(const Figure& figure, const std::string& whose, Footnotes& notes) {
  if (figure) return {figure.text};
  if (figure.reason.starts_with("n/a") && text::width(figure.reason) <= short_reason) return {figure.reason};
  return {"n/a", Tone::plain, notes.mark(whose + ": " + figure.reason)};
}

bool is_floor_row(const Figures& figures, const std::string& row,
                  const std::vector<std::string>& floor_rows) {
  if (std::ranges::find(floor_rows, row) == floor_rows.end()) return false;
  return std::ranges::none_of(figures.targets(), [&](const Target& target) {
    const Row* found = figures.row(row, target.id);
    return target.kind != Lane::floor && found != nullptr &&
           (found->status == RowStatus::failed || figures.measured(row, target.id));
  });
}

/// The p50 of a row on a lane, or what stands in its place.
Cell main_cell(const Figures& figures, const std::string& row, const Target& lane,
               std::string_view table_unit, Footnotes& notes) {
  const Row* found = figures.row(row, lane.id);
  const Metric* metric = figures.metric(row, lane.id, figures.main_metric(row));
  if (!figures.measured(row, lane.id)) {
    const bool failed = found != nullptr && found->status == RowStatus::failed;
    const std::string mark = notes.mark(lane.id + ": " + figures.why_missing(row, lane.id));
    return failed ? Cell{"failed", Tone::bad, mark} : Cell{"n/a", Tone::plain, mark};
  }
  Cell cell = to_cell(quantile_figure(metric->summary, "p50"), lane.id, notes);
  if (metric->unit != table_unit) cell.text += " " + metric->unit;
  if (const std::string failure = failure_text(*found, *metric); !failure.empty()) {
    cell.mark += notes.mark(fmt::format("{}, {}: {}", lane.id, row, failure));
    cell.tone = Tone::bad;
  }
  return cell;
}

Tone tone_of(const Comparison& comparison) {
  if (comparison.verdict == Verdict::fail) return Tone::bad;
  return comparison.verdict == Verdict::pass ? Tone::good : Tone::plain;
}

Cell ratio_cell(const Figures& figures, const Comparison& comparison, const std::string& row,
                Footnotes& notes) {
  if (!comparison.ratio && !figures.measured(row, comparison.reference)) {
    // The cell of the reference says why; the same note serves both.
    const std::string& reference = comparison.reference;
    return {"n/a", Tone::plain, notes.mark(reference + ": " + figures.why_missing(row, reference))};
  }
  Cell cell = to_cell(ratio_figure(comparison), comparison.subject + ", " + row, notes);
  cell.tone = tone_of(comparison);
  return cell;
}

/// Builds the headline table line by line.
class Headline {
 public:
  Headline(const Figures& figures, const LanePlan& plan, Footnotes& notes)
      : figures_(figures),
        plan_(plan),
        notes_(notes),
        row_(plan.rows.front()),
        metric_(figures.main_metric(row_)) {
    table_.label_columns = 2;
    for (const Target* lane : plan.lanes) table_.lanes.push_back({lane->id, {Column{}}});
  }

  Table build() {
    const std::string unit(figures_.unit(row_));
    add("p50", n_text(figures_, row_, plan_.lanes),
        [&](const Target& lane) { return main_cell(figures_, row_, lane, unit, notes_); });
    add_for_measured("95 % CI", "", [&](const Target& lane, const Row&) {
      return to_cell(interval_figure(main(lane).summary, "p50"), lane.id, notes_);
    });
    add_for_measured("p95", "", [&](const Target& lane, const Row&) {
      return to_cell(quantile_figure(main(lane).summary, "p95"), lane.id, notes_);
    });
    add_other_metrics(unit);
    add_for_measured(
        "CPU", unit == "ms" ? "per operation" : "ms per operation",
        [&](const Target& lane, const Row& row) { return to_cell(cpu_figure(row), lane.id, notes_); });
    add_for_measured("memory", "largest process", [&](const Target& lane, const Row& row) {
      return to_cell(memory_figure(row), lane.id, notes_);
    });
    add_tax(ComparisonKind::emulation, "emulation");
    add_tax(ComparisonKind::total, "total");
    return std::move(table_);
  }

 private:
  const Metric& main(const Target& lane) const { return *figures_.metric(row_, lane.id, metric_); }

  template <class F>
  void add(const std::string& label, const std::string& note, F cell_of) {
    TableLine line{{row_, label}, {}, note};
    for (const Target* lane : plan_.lanes) line.cells.push_back(cell_of(*lane));
    table_.lines.push_back(std::move(line));
  }

  /// A lane without the row says so once, beside its p50.
  template <class F>
  void add_for_measured(const std::string& label, const std::string& note, F cell_of) {
    add(label, note, [&](const Target& lane) {
      return figures_.measured(row_, lane.id) ? cell_of(lane, *figures_.row(row_, lane.id)) : Cell{};
    });
  }

  void add_other_metrics(const std::string& table_unit) {
    std::set<std::string> names;
    for (const Target* lane : plan_.lanes) {
      const Row* row = figures_.row(row_, lane->id);
      if (row == nullptr) continue;
      for (const auto& [name, metric] : row->metrics) names.insert(name);
    }
    names.erase(std::string(metric_));
    for (const std::string& name : names) {
      add_for_measured(name, "p50", [&](const Target& lane, const Row&) {
        const Metric* metric = figures_.metric(row_, lane.id, name);
        if (metric == nullptr) return to_cell({"", "does not time " + name}, lane.id, notes_);
        Cell cell = to_cell(quantile_figure(metric->summary, "p50"), lane.id, notes_);
        if (metric->unit != table_unit) cell.text += " " + metric->unit;
        return cell;
      });
    }
  }

  const Comparison* tax(ComparisonKind kind, const Target& lane) const {
    return figures_.comparison(kind, row_, metric_, "p50", lane.id);
  }

  void add_tax(ComparisonKind kind, const std::string& name) {
    std::set<std::string> references;
    std::uint64_t fewest = UINT64_MAX;
    for (const Target* lane : plan_.lanes) {
      if (const Comparison* c = tax(kind, *lane)) {
        references.insert(c->reference);
        fewest = std::min(fewest, c->pairs);
      }
    }
    if (references.empty()) return;
    const std::vector<std::string> names(references.begin(), references.end());
    add(name, fmt::format("÷ {}, {} pairs", text::join(names, ", "), text::count(fewest)),
        [&](const Target& lane) {
          if (const Comparison* c = tax(kind, lane)) return ratio_cell(figures_, *c, row_, notes_);
          return Cell{references.contains(lane.id) ? "1×" : "–"};
        });
    add("  95 % CI", "", [&](const Target& lane) {
      const Comparison* c = tax(kind, lane);
      return c != nullptr && c->ratio ? to_cell(ratio_interval_figure(*c), lane.id + ", " + name, notes_)
                                      : Cell{};
    });
  }

  const Figures& figures_;
  const LanePlan& plan_;
  Footnotes& notes_;
  const std::string& row_;
  std::string_view metric_;
  Table table_;
};

/// The tax that tells most about a lane in one figure: a subject against the reference, the reference (or
/// a subject of a run without one) against the floor.
std::optional<ComparisonKind> tax_of(const Figures& figures, const Target& lane) {
  bool total = false;
  for (const Comparison& c : figures.document().comparisons) {
    if (c.subject != lane.id) continue;
    if (c.kind == ComparisonKind::emulation) return ComparisonKind::emulation;
    total = total || c.kind == ComparisonKind::total;
  }
  return total ? std::optional(ComparisonKind::total) : std::nullopt;
}

std::string tax_head(const Figures& figures, ComparisonKind kind, const Target& lane) {
  for (const Comparison& c : figures.document().comparisons) {
    if (c.subject == lane.id && c.kind == kind) return "÷ " + c.reference;
  }
  return {};
}

bool any_row_has(const Figures& figures, const Target& lane, Figure (*figure)(const Row&)) {
  return std::ranges::any_of(figures.rows(), [&](const std::string& name) {
    const Row* row = figures.row(name, lane.id);
    return row != nullptr && figure(*row);
  });
}

}  // namespace

std::vector<std::string> usual_floor_rows() {
  return {"exec_true", "spawn_exit"};
}

LanePlan plan_lanes(const Figures& figures, const std::vector<std::string>& floor_rows) {
  LanePlan plan;
  plan.memory = memory_rows(figures);
  for (const std::string& row : figures.rows()) {
    if (std::ranges::find(plan.memory, row) != plan.memory.end()) continue;
    (is_floor_row(figures, row, floor_rows) ? plan.floors : plan.rows).push_back(row);
  }
  const auto measured_somewhere = [&](const std::string& row) {
    return std::ranges::any_of(figures.targets(),
                               [&](const Target& target) { return figures.measured(row, target.id); });
  };
  if (std::ranges::none_of(plan.rows, measured_somewhere)) {
    plan.rows.insert(plan.rows.end(), plan.floors.begin(), plan.floors.end());
    plan.floors.clear();
  }
  const auto headline = std::ranges::find_if(plan.rows, measured_somewhere);
  if (headline != plan.rows.end()) std::rotate(plan.rows.begin(), headline, headline + 1);
  for (const Target& target : figures.targets()) {
    const auto measured = [&](const std::string& row) { return figures.measured(row, target.id); };
    if (std::ranges::any_of(plan.rows, measured)) {
      plan.lanes.push_back(&target);
    } else if (std::ranges::none_of(plan.floors, measured) && std::ranges::none_of(plan.memory, measured)) {
      plan.missing.push_back(&target);
    }
  }
  return plan;
}

Table headline_table(const Figures& figures, const LanePlan& plan, Footnotes& notes) {
  if (plan.rows.empty() || plan.lanes.empty()) return {};
  return Headline(figures, plan, notes).build();
}

Table rows_table(const Figures& figures, const LanePlan& plan, std::span<const std::string> rows,
                 Beside beside, Footnotes& notes) {
  Table table;
  std::vector<std::optional<ComparisonKind>> taxes;
  std::vector<std::pair<bool, bool>> shows;  // CPU, memory of each lane
  for (const Target* lane : plan.lanes) {
    Lanes columns{lane->id, {{"p50"}}};
    taxes.push_back(tax_of(figures, *lane));
    if (taxes.back()) columns.columns.push_back({tax_head(figures, *taxes.back(), *lane)});
    shows.emplace_back(beside != Beside::nothing && any_row_has(figures, *lane, cpu_figure),
                       beside == Beside::cpu_and_memory && any_row_has(figures, *lane, memory_figure));
    if (shows.back().first) columns.columns.push_back({"CPU"});
    if (shows.back().second) columns.columns.push_back({"memory"});
    table.lanes.push_back(std::move(columns));
  }
  const std::string_view unit = plan.rows.empty() ? std::string_view() : figures.unit(plan.rows.front());
  for (const std::string& row : rows) {
    TableLine line{{row}, {}, n_text(figures, row, plan.lanes)};
    for (std::size_t i = 0; i < plan.lanes.size(); ++i) {
      const Target& lane = *plan.lanes[i];
      const bool measured = figures.measured(row, lane.id);
      line.cells.push_back(main_cell(figures, row, lane, unit, notes));
      if (taxes[i]) {
        const Comparison* c = figures.comparison(*taxes[i], row, figures.main_metric(row), "p50", lane.id);
        line.cells.push_back(c != nullptr && measured ? ratio_cell(figures, *c, row, notes) : Cell{});
      }
      const Row* found = figures.row(row, lane.id);
      if (shows[i].first)
        line.cells.push_back(measured ? to_cell(cpu_figure(*found), lane.id, notes) : Cell{});
      if (shows[i].second)
        line.cells.push_back(measured ? to_cell(memory_figure(*found), lane.id, notes) : Cell{});
    }
    table.lines.push_back(std::move(line));
  }
  return table;
}

std::string n_text(const Figures& figures, const std::string& row, const std::vector<const Target*>& lanes) {
  std::vector<SampleCount> counts;
  for (const Target* lane : lanes) {
    if (!figures.measured(row, lane->id)) continue;
    counts.push_back(
        sample_count(*figures.row(row, lane->id), *figures.metric(row, lane->id, figures.main_metric(row))));
  }
  if (counts.empty()) return {};
  const auto lost = [](const SampleCount& c) { return c.taken - c.ok; };
  const SampleCount worst = *std::ranges::max_element(counts, {}, lost);
  if (lost(worst) > 0) return n_text(worst);
  const auto [low, high] = std::ranges::minmax(counts, {}, &SampleCount::ok);
  if (low == high) return n_text(low);
  return fmt::format("n={}–{}", text::count(low.ok), text::count(high.ok));
}

}  // namespace tare::report
