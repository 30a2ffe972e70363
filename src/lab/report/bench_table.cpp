#include "lab/report/bench_table.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/figures.hpp"
#include "lab/report/lane_tables.hpp"
#include "lab/report/layout.hpp"
#include "lab/report/provenance.hpp"
#include "lab/report/trace_table.hpp"

namespace tare::report {
namespace {

/// The metrics of a row but for its total, in the order of the life of a runtime where they are steps of it.
std::vector<std::string> steps_in_order(const Row& row) {
  static const std::vector<std::string> order = {"create",      "first_exec", "warm_exec",
                                                 "dispose",     "idle",       "vm",
                                                 "live_guests", "after_kill", "after_dispose"};
  std::vector<std::string> names;
  for (const std::string& name : order) {
    if (row.metrics.contains(name)) names.push_back(name);
  }
  for (const auto& [name, metric] : row.metrics) {
    if (name != "total" && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

class Report {
 public:
  Report(const Document& document, const RenderOptions& options)
      : document_(document),
        options_(options),
        figures_(document),
        plan_(plan_lanes(figures_, usual_floor_rows())) {}

  std::string build() {
    head();
    if (plan_.lanes.empty()) {
      out_ += '\n';
      say("result", "nothing was measured", Tone::bad);
    } else {
      tables();
      floors();
      phases();
      stages();
      signs();
    }
    missing_lanes();
    out_ += '\n';
    findings();
    verdicts();
    say("wrote", text::join(options_.wrote, " · "));
    return std::move(out_);
  }

 private:
  void say(std::string_view label, const std::string& text, Tone tone = Tone::plain) {
    if (!text.empty()) out_ += paragraph(label, text, options_.width, options_.colour, tone);
  }

  void say_each(std::string_view label, const std::vector<std::string>& lines, Tone tone = Tone::plain) {
    for (const std::string& line : lines) say(&line == lines.data() ? label : "", line, tone);
  }

  void head();
  void tables();
  void floors();
  void signs();
  void phases();
  void stages();
  void missing_lanes();
  void findings();
  void verdicts();
  Table best_rows_table();

  const Document& document_;
  const RenderOptions& options_;
  Figures figures_;
  LanePlan plan_;
  Footnotes notes_;
  std::string left_out_;  ///< what the terminal is too narrow for
  std::string out_;
};

void Report::head() {
  say("host", host_line(document_));
  say("plan", plan_line(document_));
  say_each("detects", detectable_lines(document_));
  if (!document_.complete) {
    say("partial", "the run was cut short; this is what was measured until then", Tone::warn);
  }
}

/// As much beside each p50 as fits without a split.
Table Report::best_rows_table() {
  left_out_.clear();
  for (const Beside beside : {Beside::cpu_and_memory, Beside::cpu, Beside::nothing}) {
    Footnotes notes = notes_;
    Table table = rows_table(figures_, plan_, std::span(plan_.rows).subspan(1), beside, notes);
    if (beside != Beside::nothing && natural_width(table) > options_.width) {
      left_out_ = beside == Beside::cpu ? "CPU and memory" : "Memory";
      continue;
    }
    notes_ = std::move(notes);
    return table;
  }
  return {};
}

void Report::tables() {
  Table headline = headline_table(figures_, plan_, notes_);
  const std::string& row = plan_.rows.front();
  headline.title = bench_title(document_) + ", " + std::string(figures_.unit(row));
  out_ += '\n' + lay_out(headline, options_.width, options_.colour);
  if (plan_.rows.size() > 1) out_ += '\n' + lay_out(best_rows_table(), options_.width, options_.colour);
  std::vector<std::string> notes = notes_.lines();
  if (!left_out_.empty())
    notes.push_back(left_out_ + " of each row: on a wider terminal and in the Markdown report.");
  for (const std::string& note : notes) out_ += flow(note, options_.width);
  out_ += '\n';
}

void Report::floors() {
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
    say(first ? "floors" : "",
        fmt::format("{}: {}, {}", target.id, text::join(parts, " · "), text::join(counts, ", ")));
    first = false;
  }
}

/// Rows that are a life in steps, as a cold start: the steps say more than their sum.
void Report::phases() {
  constexpr std::size_t many = 5;
  bool first = true;
  for (const Row& row : document_.rows) {
    if (row.metrics.size() < many || !figures_.measured(row.row, row.target)) continue;
    std::vector<std::string> parts;
    for (const std::string& name : steps_in_order(row)) {
      const measure::Summary& summary = row.metrics.at(name).summary;
      parts.push_back(fmt::format("{} {}", name,
                                  summary.p50 ? with_unit(*summary.p50, row.metrics.at(name).unit) : "n/a"));
    }
    say(first ? "steps" : "", fmt::format("{}, {}: {} (p50)", row.target, row.row, text::join(parts, " · ")));
    first = false;
  }
}

/// The stages of the first row that was traced; those of the others are in the Markdown report.
void Report::stages() {
  const std::vector<std::string> rows = traced_rows(document_);
  if (rows.empty()) return;
  constexpr std::size_t most = 12;
  out_ += '\n' + lay_out(trace_table(document_, rows.front(), most), options_.width, options_.colour);
  const std::string others =
      rows.size() == 1 ? "" : fmt::format(", and those of {} other rows", rows.size() - 1);
  out_ +=
      flow(fmt::format("The heaviest, from a traced arm of its own. All{}: in the Markdown report.", others),
           options_.width);
  out_ += '\n';
}

void Report::signs() {
  if (document_.comparisons.empty()) return;
  say("signs",
      "÷ median of the rounds' own ratios, not the ratio of the two p50 · ≈ its interval holds 1 · ? too few "
      "rounds for an interval");
}

void Report::missing_lanes() {
  std::vector<std::string> lines;
  for (const Target* target : plan_.missing) {
    std::vector<std::string> reasons;
    for (const std::string& row : figures_.rows()) {
      if (figures_.row(row, target->id) == nullptr) continue;
      std::string reason = figures_.why_missing(row, target->id);
      if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(std::move(reason));
    }
    if (reasons.empty())
      reasons.emplace_back(document_.complete ? "no rows" : "not reached before the run ended");
    lines.push_back(target->id + ": " + text::join(reasons, "; "));
  }
  say_each("missing", lines, Tone::warn);
}

void Report::findings() {
  std::vector<std::string> lines;
  for (const Finding& finding : document_.findings) {
    lines.push_back(finding_text(finding));
  }
  say_each("findings", lines);
  say_each("guidance", document_.guidance);
}

void Report::verdicts() {
  std::vector<std::string> budgets;
  for (const Budget& budget : document_.budgets) {
    const std::string measured = budget.measured ? text::significant(*budget.measured) : "n/a";
    std::string line = fmt::format("{}: {} measured, {} allowed: {}", budget.id, measured, budget.limit,
                                   name_of(budget.verdict));
    if (budget.reason) line += " (" + *budget.reason + ")";
    const Tone tone = budget.verdict == Verdict::pass   ? Tone::good
                      : budget.verdict == Verdict::fail ? Tone::bad
                                                        : Tone::warn;
    say(&budget == document_.budgets.data() ? "budgets" : "", line, tone);
  }
  const std::vector<std::string> broken = broken_invariants(document_);
  const std::string checked = invariants_text(document_);
  const Tone unbroken = checked.starts_with("all ") ? Tone::good : Tone::warn;
  say("invariants", checked, broken.empty() ? unbroken : Tone::bad);
  say_each("", broken, Tone::bad);
}

}  // namespace

std::string render(const Document& document, const RenderOptions& options) {
  return Report(document, options).build();
}

}  // namespace tare::report
