#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/bench_sections.hpp"
#include "lab/report/figures.hpp"
#include "lab/report/lane_tables.hpp"
#include "lab/report/memory_table.hpp"
#include "lab/report/trace_table.hpp"

namespace tare::report {
namespace {

/// The metrics of a row but for its total, in the order of the life of a runtime where they are steps of it.
std::vector<std::string> steps_in_order(const Row& row) {
  static const std::vector<std::string> order = {"create", "first_exec", "warm_exec", "dispose"};
  std::vector<std::string> names;
  for (const std::string& name : order) {
    if (row.metrics.contains(name)) names.push_back(name);
  }
  for (const auto& [name, metric] : row.metrics) {
    if (name != "total" && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

class SpawnSections {
 public:
  SpawnSections(const Document& document, Sections& out)
      : document_(document), out_(out), figures_(document), plan_(plan_lanes(figures_, usual_floor_rows())) {}

  void write() {
    if (plan_.lanes.empty() && plan_.memory.empty()) {
      out_.blank();
      out_.say("result", "nothing was measured", Tone::bad);
    } else {
      if (!plan_.lanes.empty()) tables();
      memory();
      floors();
      phases();
      stages();
      signs();
    }
    missing_lanes(document_, plan_.missing, out_);
  }

 private:
  void tables();
  void memory();
  void floors();
  void signs();
  void phases();
  void stages();
  Table best_rows_table();

  const Document& document_;
  Sections& out_;
  Figures figures_;
  LanePlan plan_;
  Footnotes notes_;
  std::string left_out_;  ///< what the terminal is too narrow for
};

/// As much beside each p50 as fits without a split.
Table SpawnSections::best_rows_table() {
  left_out_.clear();
  for (const Beside beside : {Beside::cpu_and_memory, Beside::cpu, Beside::nothing}) {
    Footnotes notes = notes_;
    Table table = rows_table(figures_, plan_, std::span(plan_.rows).subspan(1), beside, notes);
    if (beside != Beside::nothing && natural_width(table) > out_.options().width) {
      left_out_ = beside == Beside::cpu ? "CPU and memory" : "Memory";
      continue;
    }
    notes_ = std::move(notes);
    return table;
  }
  return {};
}

void SpawnSections::tables() {
  Table headline = headline_table(figures_, plan_, notes_);
  const std::string& row = plan_.rows.front();
  headline.title = bench_title(document_) + ", " + std::string(figures_.unit(row));
  out_.blank();
  out_.add(headline);
  if (plan_.rows.size() > 1) {
    out_.blank();
    out_.add(best_rows_table());
  }
  std::vector<std::string> notes = notes_.lines();
  if (!left_out_.empty())
    notes.push_back(left_out_ + " of each row: on a wider terminal and in the Markdown report.");
  for (const std::string& note : notes) out_.add_flow(note);
  out_.blank();
}

void SpawnSections::memory() {
  if (plan_.memory.empty()) return;
  Footnotes notes;
  if (plan_.lanes.empty()) out_.blank();
  for (const Table& table : memory_tables(figures_, plan_.memory, notes)) {
    out_.add(table);
    out_.blank();
  }
  if (notes.lines().empty()) return;
  for (const std::string& note : notes.lines()) out_.add_flow(note);
  out_.blank();
}

void SpawnSections::floors() {
  bool first = true;
  for (const Target& target : figures_.targets()) {
    std::vector<std::string> parts;
    std::vector<std::string> counts;
    for (const std::string& row : plan_.floors) {
      if (!figures_.measured(row, target.id)) continue;
      const Metric& metric = *figures_.metric(row, target.id, figures_.main_metric(row));
      const Figure interval = interval_figure(metric.summary, "p50");
      parts.push_back(fmt::format("{} {} {} ({})", row, quantile_figure(metric.summary, "p50").text,
                                  metric.unit, interval ? interval.text : "95 % CI " + interval.reason));
      const std::string n = n_text(figures_, row, {&target});
      if (std::ranges::find(counts, n) == counts.end()) counts.push_back(n);
    }
    if (parts.empty()) continue;
    out_.say(first ? "floors" : "",
             fmt::format("{}: {}, {}", target.id, text::join(parts, " · "), text::join(counts, ", ")));
    first = false;
  }
}

/// Rows that are a life in steps, as a cold start: the steps say more than their sum.
void SpawnSections::phases() {
  constexpr std::size_t many = 5;
  bool first = true;
  for (const Row& row : document_.rows) {
    if (std::ranges::find(plan_.memory, row.row) != plan_.memory.end()) continue;
    if (row.metrics.size() < many || !figures_.measured(row.row, row.target)) continue;
    std::vector<std::string> parts;
    for (const std::string& name : steps_in_order(row)) {
      const measure::Summary& summary = row.metrics.at(name).summary;
      parts.push_back(fmt::format("{} {}", name,
                                  summary.p50 ? with_unit(*summary.p50, row.metrics.at(name).unit) : "n/a"));
    }
    out_.say(first ? "steps" : "",
             fmt::format("{}, {}: {} (p50)", row.target, row.row, text::join(parts, " · ")));
    first = false;
  }
}

/// The stages of the first row that was traced; those of the others are in the Markdown report.
void SpawnSections::stages() {
  const std::vector<std::string> rows = traced_rows(document_);
  if (rows.empty()) return;
  constexpr std::size_t most = 12;
  out_.blank();
  out_.add(trace_table(document_, rows.front(), most));
  const std::string others =
      rows.size() == 1 ? "" : fmt::format(", and those of {} other rows", rows.size() - 1);
  out_.add_flow(
      fmt::format("The heaviest, from a traced arm of its own. All{}: in the Markdown report.", others));
  out_.blank();
}

void SpawnSections::signs() {
  if (document_.comparisons.empty()) return;
  out_.say(
      "signs",
      "÷ median of the rounds' own ratios, not the ratio of the two p50 · ≈ its interval holds 1 · ? too few "
      "rounds for an interval");
}

}  // namespace

void spawn_sections(const Document& document, Sections& out) {
  SpawnSections(document, out).write();
}

}  // namespace tare::report
