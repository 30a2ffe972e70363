#include "lab/report/markdown.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/report/agents_table.hpp"
#include "lab/report/benches.hpp"
#include "lab/report/figures.hpp"
#include "lab/report/gateway_lines.hpp"
#include "lab/report/gateway_table.hpp"
#include "lab/report/import_table.hpp"
#include "lab/report/lane_tables.hpp"
#include "lab/report/memory_table.hpp"
#include "lab/report/provenance.hpp"
#include "lab/report/trace_table.hpp"

namespace tare::report {
namespace {

/// The cells of a line; they are Markdown already.
using Cells = std::vector<std::string>;

std::string shown(const Figure& figure) {
  return markdown_text(figure ? figure.text : figure.reason);
}

/// "27.9 (27.6–28.2)", or the point and why it has no interval.
std::string with_interval(const Figure& point, const Figure& interval) {
  if (!point) return shown(point);
  if (interval) return fmt::format("{} ({})", shown(point), shown(interval));
  std::string why = interval.reason;
  if (why.starts_with("n/a (") && why.ends_with(")")) why = why.substr(5, why.size() - 6);
  return fmt::format("{} (no interval: {})", shown(point), markdown_text(why));
}

std::string quantile_cell(const measure::Summary& summary, std::string_view quantile) {
  return with_interval(quantile_figure(summary, quantile), interval_figure(summary, quantile));
}

/// How the lanes of a bench were interleaved.
std::string turns_taken(const Document& part) {
  const std::string unit = repeated_unit(part);
  if (unit.empty()) return "lanes are interleaved in every round";
  if (unit == "worker") {
    return fmt::format(
        "{}: each row has fresh workers on each lane, and the lanes take turns worker by worker",
        part.rows.front().bench);
  }
  return "gateway: gateways take turns run by run, each started anew for its run; latencies count from the "
         "moment at which the schedule wanted a request to start";
}

/// The heads of a table's label columns, of which the first ones are text and others are figures.
struct Labels {
  Cells heads = {"row"};
  std::size_t text = 1;
};

class Markdown {
 public:
  explicit Markdown(const Document& document) : document_(document), figures_(document) {
    for (const std::string& bench : benches_of(document)) parts_.push_back(part_of(document, bench));
    if (parts_.empty()) parts_.push_back(document);
  }

  std::string build() {
    title();
    for (const Document& part : parts_) overview(part);
    rows();
    comparisons();
    list("Findings", finding_lines());
    list("Guidance", document_.guidance);
    budgets();
    stages();
    invariants();
    method();
    place();
    return std::move(out_);
  }

 private:
  void title();
  void overview(const Document& part);
  void spawn_overview(const Document& part);
  void agents_overview(const Document& part);
  void import_overview(const Document& part);
  void gateway_overview(const Document& part);
  void table(const Table& table, const Labels& labels = {});
  void footnotes(const Footnotes& notes);
  void rows();
  void comparisons();
  void list(std::string_view title, const std::vector<std::string>& items);
  std::vector<std::string> finding_lines() const;
  void budgets();
  void stages();
  void stage_table(const Table& table, const char* what);
  void invariants();
  void method();
  void place();

  void heading(std::string_view text) { out_ += fmt::format("\n## {}\n", text); }
  void paragraph(const std::string& text) { out_ += "\n" + text + "\n"; }

  const Document& document_;
  Figures figures_;
  std::vector<Document> parts_;  ///< one for each bench
  std::string out_;
};

void Markdown::title() {
  const RunVerdict verdict = run_verdict(document_);
  std::vector<std::string> titles;
  std::string facts = markdown_text(host_line(document_));
  for (const Document& part : parts_) {
    titles.push_back(markdown_text(bench_title(part)));
    facts += "  \n" + markdown_text(plan_line(part));
    const std::string detects = text::join(detectable_lines(part), "; ");
    if (!detects.empty()) facts += "  \nDetects " + markdown_text(detects);
  }
  out_ += fmt::format("# {}: {} – {}\n", text::join(titles, ", "), name_of(verdict.verdict),
                      markdown_text(verdict.text));
  paragraph(facts);
  if (!document_.complete) paragraph("**The run was cut short.** This is what was measured until then.");
}

void Markdown::overview(const Document& part) {
  const std::string bench = part.rows.empty() ? "" : part.rows.front().bench;
  if (bench == "agents") return agents_overview(part);
  if (bench == "import") return import_overview(part);
  if (bench == "gateway") return gateway_overview(part);
  spawn_overview(part);
}

/// p50 and tax of every row on every lane.
void Markdown::spawn_overview(const Document& part) {
  const Figures figures(part);
  const LanePlan plan = plan_lanes(figures, usual_floor_rows());
  if (plan.lanes.empty() && plan.memory.empty()) return paragraph("**Nothing was measured.**");
  if (!plan.lanes.empty()) {
    Footnotes notes;
    heading(fmt::format("p50, {}", markdown_text(figures.unit(plan.rows.front()))));
    table(rows_table(figures, plan, plan.rows, Beside::cpu_and_memory, notes));
    footnotes(notes);
  }
  if (plan.memory.empty()) return;
  Footnotes notes;
  heading("Memory, p50");
  for (const Table& one : memory_tables(figures, plan.memory, notes)) table(one);
  footnotes(notes);
}

void Markdown::agents_overview(const Document& part) {
  const Figures figures(part);
  Footnotes notes;
  const Table all = agents_table(figures, AgentColumns::interval, notes);
  if (all.lanes.empty()) return paragraph("**Nothing was measured.**");
  heading("Agents, p50");
  table(all, {{"row", "size"}, 1});
  footnotes(notes);
  std::vector<std::string> lines = halves(figures);
  for (const std::string& line : costs_per_row(figures)) lines.push_back("per row: " + line);
  if (const std::string memory = memory_line(part); !memory.empty()) lines.push_back("memory: " + memory);
  out_ += "\n";
  for (const std::string& line : lines) out_ += "- " + markdown_text(line) + "\n";
}

void Markdown::import_overview(const Document& part) {
  const Figures figures(part);
  Footnotes notes;
  const Table all = import_table(figures, ImportColumns::interval, notes);
  if (all.lanes.empty()) return paragraph("**Nothing was measured.**");
  heading("Isolates and modules, p50 in ms");
  table(all);
  footnotes(notes);
}

void Markdown::gateway_overview(const Document& part) {
  const Figures figures(part);
  Footnotes notes;
  const Table all = gateway_table(figures, GatewayColumns::p95_p99_max, notes);
  if (all.lanes.empty()) return paragraph("**Nothing was measured.**");
  heading("Gateways");
  table(all, {{"part", "figure"}, 2});
  footnotes(notes);
  out_ += "\n";
  const auto say = [&](const std::string& label, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) out_ += "- " + markdown_text(label + ": " + line) + "\n";
  };
  say(loop_name(part), loop_lines(part));
  say("pessimistic", pessimistic_lines(part));
  say("correctness", correctness_lines(part));
  say("violation", violation_lines(part));
}

/// The last column is the note.
void Markdown::table(const Table& table, const Labels& labels) {
  Cells heads = labels.heads;
  for (const Lanes& lane : table.lanes) {
    for (const Column& column : lane.columns) heads.push_back(markdown_text(lane.title + " " + column.head));
  }
  heads.emplace_back("n");
  out_ += markdown_head(heads, labels.text);
  for (const TableLine& line : table.lines) {
    Cells cells{markdown_code(line.labels.front())};
    for (std::size_t i = 1; i < line.labels.size(); ++i) cells.push_back(markdown_text(line.labels[i]));
    for (const Cell& cell : line.cells) cells.push_back(markdown_text(cell.text + cell.mark));
    cells.push_back(markdown_text(line.note));
    out_ += markdown_line(cells);
  }
}

void Markdown::footnotes(const Footnotes& notes) {
  std::vector<std::string> lines;
  for (const std::string& note : notes.lines()) lines.push_back(markdown_text(note));
  if (!lines.empty()) paragraph(text::join(lines, "  \n"));
}

void Markdown::rows() {
  if (document_.rows.empty()) return;
  heading("Every row");
  for (const std::string& name : figures_.rows()) {
    out_ += fmt::format("\n### {}\n", markdown_code(name));
    out_ += markdown_head({"target", "metric", "unit", "n", "min", "p50 (95 % CI)", "p90", "p95 (95 % CI)",
                           "p99 (95 % CI)", "max", "mean ± sd", "CPU, ms", "memory"},
                          3);
    for (const Target& target : figures_.targets()) {
      const Row* row = figures_.row(name, target.id);
      if (row == nullptr) continue;
      if (row->metrics.empty()) {
        const std::string why = markdown_text(figures_.why_missing(name, target.id));
        out_ += markdown_line({markdown_code(target.id), why, "", "", "", "n/a", "", "", "", "", "", "", ""});
      }
      for (const auto& [metric_name, metric] : row->metrics) {
        const measure::Summary& s = metric.summary;
        const auto number = [](const std::optional<double>& v) { return v ? text::significant(*v) : "n/a"; };
        const std::string spread = s.mean && s.stddev ? number(s.mean) + " ± " + number(s.stddev) : "n/a";
        // What a gateway costs is a row of its own.
        const bool main = metric_name == figures_.main_metric(name) && row->bench != "gateway";
        out_ += markdown_line({markdown_code(target.id), markdown_code(metric_name),
                               markdown_text(metric.unit), n_text(sample_count(*row, metric)).substr(2),
                               number(s.min), quantile_cell(s, "p50"), shown(quantile_figure(s, "p90")),
                               quantile_cell(s, "p95"), quantile_cell(s, "p99"), number(s.max), spread,
                               main ? shown(cpu_figure(*row)) : "", main ? shown(memory_figure(*row)) : ""});
      }
    }
  }
}

void Markdown::comparisons() {
  if (document_.comparisons.empty()) return;
  heading("Comparisons");
  out_ += markdown_head(
      {"row", "metric", "kind", "lanes", "ratio (95 % CI)", "difference (95 % CI)", "pairs", "verdict"}, 4);
  std::set<std::string> methods;
  for (const Comparison& c : document_.comparisons) {
    if (!c.ratio && c.quantile != "p50") continue;  // too few rounds: the document says so of each
    methods.insert(c.method);
    const auto signed_number = [](double v) { return (v > 0 ? "+" : "") + text::significant(v); };
    std::string difference = c.difference ? signed_number(*c.difference) + " " + c.unit : "n/a";
    if (c.difference && c.difference_interval)
      difference += " (" + interval_text(*c.difference_interval) + ")";
    const Figure ratio = ratio_figure(c);
    out_ += markdown_line(
        {markdown_code(c.row), markdown_code(c.metric) + " " + markdown_text(c.quantile),
         std::string(name_of(c.kind)), markdown_code(c.subject) + " ÷ " + markdown_code(c.reference),
         ratio ? with_interval(ratio, ratio_interval_figure(c)) : "n/a: " + shown(ratio),
         markdown_text(difference), text::count(c.pairs), c.verdict ? std::string(name_of(*c.verdict)) : ""});
  }
  paragraph(
      "`≈` before a ratio: its interval holds 1, so these samples do not tell the two lanes apart. `?`: too "
      "few rounds for "
      "an interval. Method: " +
      markdown_text(text::join(std::vector<std::string>(methods.begin(), methods.end()), "; ")) + ".");
}

void Markdown::list(std::string_view title, const std::vector<std::string>& items) {
  if (items.empty()) return;
  heading(title);
  out_ += "\n";
  for (const std::string& item : items) out_ += "- " + markdown_text(item) + "\n";
}

std::vector<std::string> Markdown::finding_lines() const {
  std::vector<std::string> lines;
  for (const Finding& finding : document_.findings) lines.push_back(finding_text(finding));
  return lines;
}

void Markdown::budgets() {
  if (document_.budgets.empty()) return;
  heading("Budgets");
  out_ += markdown_head({"budget", "limit", "reason", "measured", "verdict"}, 3);
  for (const Budget& b : document_.budgets) {
    out_ +=
        markdown_line({markdown_code(b.id), markdown_text(b.limit), markdown_text(b.reason.value_or("")),
                       b.measured ? text::significant(*b.measured) : "n/a", std::string(name_of(b.verdict))});
  }
}

void Markdown::stage_table(const Table& table, const char* what) {
  if (table.lanes.empty()) return;
  heading(markdown_text(table.title));
  Cells heads{what};
  for (const Lanes& lane : table.lanes) {
    for (const Column& column : lane.columns) heads.push_back(markdown_text(lane.title + " " + column.head));
  }
  out_ += markdown_head(heads, 1);
  for (const TableLine& line : table.lines) {
    Cells cells{markdown_code(line.labels.front())};
    for (const Cell& cell : line.cells) cells.push_back(cell.text);
    out_ += markdown_line(cells);
  }
}

void Markdown::stages() {
  for (const std::string& row : traced_rows(document_)) {
    stage_table(trace_table(document_, row, std::string::npos), "stage");
    stage_table(lifecycle_table(document_, row), "sub-phase");
  }
  list("How ends became known", lifecycle_lines(document_));
  list("Stages that are not counted", absent_stages(document_));
}

void Markdown::invariants() {
  heading("Invariants");
  paragraph(markdown_text(invariants_text(document_)) + ".");
  const std::vector<std::string> broken = broken_invariants(document_);
  if (!broken.empty()) out_ += "\n";
  for (const std::string& failure : broken) out_ += "- " + markdown_text(failure) + "\n";
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> checks;  // checked, broken
  for (const Row& row : document_.rows) {
    for (const Invariant& i : row.invariants) {
      checks[i.id].first += i.checked;
      checks[i.id].second += i.broken;
    }
  }
  if (checks.empty()) return;
  out_ += markdown_head({"invariant", "checked", "broken"}, 1);
  for (const auto& [id, counts] : checks) {
    out_ += markdown_line({markdown_code(id), text::count(counts.first), text::count(counts.second)});
  }
}

void Markdown::method() {
  heading("How it was measured");
  out_ += fmt::format("\n- percentiles: {}; none below n = 10 (p90), 20 (p95), 100 (p99)\n",
                      markdown_text(measure::quantile_definition));
  out_ += "- interval of a percentile: order statistics by the exact binomial, at least 95 %\n";
  out_ +=
      "- spread: standard deviation of the population; no sample is removed; warm-up samples stand apart\n";
  for (const Document& part : parts_) {
    out_ += "- " + turns_taken(part);
    out_ += "; only samples that ended well are in the figures, and n says how many did\n";
  }
  std::set<std::string> methods;
  for (const Row& row : document_.rows)
    methods.insert(row.resources.methods.begin(), row.resources.methods.end());
  for (const std::string& method : methods) out_ += "- " + markdown_text(method) + "\n";
  out_ += "- `≤` before a memory figure: no more than the program that starts the process itself takes\n";
  if (!document_.command.empty()) out_ += "\n```sh\n" + command_text(document_) + "\n```\n";
}

void Markdown::place() {
  heading("Where it was measured");
  out_ += markdown_head({"fact", "value"}, 2);
  for (const auto& [name, value] : provenance(document_)) out_ += markdown_line({name, markdown_text(value)});
  out_ += markdown_head({"target", "lane", "version", "engine", "program", "size", "modified", "sha256"}, 8);
  for (const Target& t : figures_.targets()) {
    out_ += markdown_line({markdown_code(t.id), std::string(name_of(t.kind)),
                           markdown_text(t.version.value_or("")), markdown_text(t.engine.value_or("")),
                           markdown_code(t.path.value_or("")), t.size_bytes ? text::bytes(*t.size_bytes) : "",
                           markdown_text(t.modified_at.value_or("")),
                           markdown_code(t.sha256.value_or("").substr(0, 16))});
  }
}

}  // namespace

std::string markdown(const Document& document) {
  return Markdown(document).build();
}

}  // namespace tare::report
