#include "lab/report/import_markdown.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/report/figures.hpp"
#include "lab/report/import_hotspots.hpp"
#include "lab/report/import_lines.hpp"
#include "lab/report/markdown.hpp"
#include "lab/report/provenance.hpp"

namespace tare::report {
namespace {

constexpr double mib = 1024.0 * 1024.0;

std::string two_digits(const std::optional<double>& value, double divisor = 1) {
  return value ? fmt::format("{:.2f}", *value / divisor) : "n/a";
}

std::string signed_ms(const std::optional<MeanDelta>& delta) {
  return delta ? fmt::format("{:+.2f}", delta->delta) : "n/a";
}

std::string code_list(const std::vector<std::string>& names) {
  std::vector<std::string> codes;
  for (const std::string& name : names) codes.push_back(markdown_code(name));
  return text::join(codes, ", ");
}

std::string sample_list(const Metric& metric, double divisor) {
  std::vector<std::string> values;
  for (const double value : good_values(metric)) values.push_back(fmt::format("{:.2f}", value / divisor));
  return fmt::format("\\[{}\\]", text::join(values, ", "));
}

class ImportMarkdown {
 public:
  ImportMarkdown(const Document& document, const ImportBaseline* baseline)
      : document_(document),
        figures_(document),
        baseline_(baseline),
        lines_(import_lines(document)),
        targets_(import_targets(document)) {}

  std::string build() {
    header();
    transport();
    controls();
    summary();
    stability();
    hotspots();
    guidance();
    if (baseline_ != nullptr) comparison(*baseline_);
    checks();
    raw_samples();
    return std::move(out_);
  }

 private:
  void header();
  void transport();
  void controls();
  void summary();
  void not_measured();
  void stability();
  void hotspots();
  void guidance();
  void comparison(const ImportBaseline& baseline);
  void verdicts(const ImportBaseline& baseline);
  void checks();
  void raw_samples();

  void heading(std::string_view text) { out_ += fmt::format("\n## {}\n", text); }
  void item(const std::string& text) { out_ += "- " + text + "\n"; }
  std::string ratio_cell(const ImportLine& line) const;

  const Document& document_;
  Figures figures_;
  const ImportBaseline* baseline_;
  std::vector<ImportLine> lines_;
  std::vector<std::string> targets_;
  std::string out_;
};

void ImportMarkdown::header() {
  const RunVerdict verdict = run_verdict(document_);
  out_ +=
      fmt::format("# Import benchmark: {} – {}\n\n", name_of(verdict.verdict), markdown_text(verdict.text));
  item("Started: " + markdown_code(document_.started_at));
  item("Tool: " + markdown_code(fmt::format("tare {} ({}, {})", document_.tool.version, document_.tool.commit,
                                            document_.tool.build)));
  for (const Target& target : document_.targets) {
    std::string line = fmt::format("Target {}: {}", markdown_code(target.id), name_of(target.kind));
    if (target.version) line += ", version " + markdown_code(*target.version);
    if (target.engine) line += ", " + markdown_text(*target.engine);
    if (target.path) line += ", " + markdown_code(*target.path);
    item(line);
  }
  item("Host: " + markdown_text(host_line(document_)));
  item(fmt::format("Iterations: `{}` recorded, `{}` warm-up, `{}` process{} a row and target",
                   config_number(document_, "iterations").value_or(0),
                   config_number(document_, "warmup").value_or(0),
                   config_number(document_, "processes").value_or(1),
                   config_number(document_, "processes").value_or(1) == 1 ? "" : "es"));
  item(fmt::format("Percentiles: {}; p95 from 20 samples on", markdown_text(measure::quantile_definition)));
  if (!document_.command.empty()) item("Reproduce: " + markdown_code(command_text(document_)));
  if (!document_.complete) out_ += "\n**The run was cut short.** This is what was measured until then.\n";
}

void ImportMarkdown::transport() {
  heading("Transport RTT");
  out_ += markdown_head({"Channel", "Runtime", "Payload (bytes)", "Mean RTT (ms)", "P50", "P95"}, 2);
  for (const TransportLine& line : transport_lines(document_)) {
    const measure::Summary& s = line.total->summary;
    const auto number = [](const std::optional<double>& value, const char* otherwise) {
      return value ? fmt::format("{:.3f}", *value) : std::string(otherwise);
    };
    out_ += markdown_line({markdown_code(transport_channel_name), markdown_code(line.target),
                           std::to_string(line.bytes), number(s.mean, "n/a"), number(s.p50, "n/a"),
                           number(s.p95, "n/a (n\\<20)")});
  }
}

void ImportMarkdown::controls() {
  heading("Control Matrix");
  out_ += "\n";
  for (const ControlRow& row : control_matrix(lines_)) {
    item(fmt::format("Workload {}: runtimes {}, modes {}, scenarios {}", markdown_code(row.workload),
                     code_list(row.targets), code_list(row.modes), code_list(row.scenarios)));
  }
}

/// "0.20× (0.19–0.21)" against the reference lane.
std::string ImportMarkdown::ratio_cell(const ImportLine& line) const {
  const Comparison* found =
      figures_.comparison(ComparisonKind::emulation, line.scenario.id, "total", "p50", line.target);
  if (found == nullptr) return "";
  const Figure ratio = ratio_figure(*found);
  if (!ratio) return "n/a";
  const std::string interval = found->interval ? fmt::format(" ({})", interval_text(*found->interval)) : "";
  return ratio.text + interval;
}

void ImportMarkdown::summary() {
  heading("Scenario Summary");
  out_ += markdown_head(
      {"Scenario", "Workload", "Runtime", "Mode", "Fixture", "Cache", "Mean wall (ms)", "Mean context (ms)",
       "Mean startup (ms)", "Mean guest exec (ms)", "Mean completion (ms)", "Mean startup overhead (ms)",
       "Mean engine start (ms)", "Mean fresh process (ms)", "Wall p50 ÷ reference (95 % CI)"},
      6);
  for (const ImportLine& line : lines_) {
    const ImportScenario& s = line.scenario;
    out_ += markdown_line({markdown_code(s.id), markdown_code(s.workload), markdown_code(line.target),
                           markdown_code(s.mode), markdown_text(s.fixture), s.compile_cache,
                           two_digits(line.mean("total")), two_digits(line.mean("context_setup")),
                           two_digits(line.mean("startup")), two_digits(line.mean("guest_execution")),
                           two_digits(line.mean("completion")), two_digits(line.mean("startup_overhead")),
                           two_digits(line.mean("engine_start")), two_digits(line.mean("fresh_process")),
                           ratio_cell(line)});
  }
  not_measured();
}

void ImportMarkdown::not_measured() {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const Row& row : document_.rows) {
    if (row.bench != "import" || figures_.measured(row.row, row.target)) continue;
    const std::string why = row.target + ": " + figures_.why_missing(row.row, row.target);
    auto known = std::ranges::find(reasons, why, &std::pair<std::string, std::vector<std::string>>::first);
    if (known == reasons.end()) known = reasons.insert(reasons.end(), {why, {}});
    known->second.push_back(row.row);
  }
  if (reasons.empty()) return;
  out_ += "\nNot measured:\n\n";
  for (const auto& [why, rows] : reasons) item(fmt::format("{} ({})", markdown_text(why), code_list(rows)));
}

void ImportMarkdown::stability() {
  heading("Stability And Resource Summary");
  out_ += markdown_head({"Scenario", "Runtime", "Wall P50 (ms)", "Wall min-max (ms)", "Wall stddev (ms)",
                         "Mean RSS (MiB)", "Mean heap (MiB)", "Mean total CPU (ms)"},
                        2);
  for (const ImportLine& line : lines_) {
    const measure::Summary& wall = line.metric("total")->summary;
    out_ += markdown_line({markdown_code(line.scenario.id), markdown_code(line.target), two_digits(wall.p50),
                           two_digits(wall.min) + "-" + two_digits(wall.max), two_digits(wall.stddev),
                           two_digits(line.mean("rss"), mib), two_digits(line.mean("heap_used"), mib),
                           two_digits(line.mean("cpu_total"))});
  }
}

/// One table a metric; ranks begin anew with every lane.
void ImportMarkdown::hotspots() {
  heading("Ranked Hotspots");
  std::vector<std::vector<HotspotRanking>> lanes;
  for (const std::string& target : targets_) lanes.push_back(hotspot_rankings(lines_of(lines_, target)));
  if (lanes.empty()) return;
  for (std::size_t i = 0; i < lanes.front().size(); ++i) {
    const HotspotRanking& first = lanes.front()[i];
    out_ += fmt::format("\n### {} (`{}`, `{}`)\n", first.label, first.dimension, first.unit);
    out_ += markdown_head({"Scenario", "Workload", "Runtime", "Mode", "Rank", "Value"}, 4);
    for (const std::vector<HotspotRanking>& lane : lanes) {
      for (const Hotspot& spot : lane[i].ranked) {
        out_ += markdown_line({markdown_code(spot.scenario), markdown_code(spot.workload),
                               markdown_code(spot.target), markdown_code(spot.mode),
                               std::to_string(spot.rank), hotspot_value(first.unit, spot.value)});
      }
    }
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      if (lanes[lane][i].without.empty()) continue;
      out_ += fmt::format("\nMissing metric on {} for: {}\n", markdown_code(targets_[lane]),
                          code_list(lanes[lane][i].without));
    }
  }
}

void ImportMarkdown::guidance() {
  heading("Hotspot Guidance");
  out_ += "\n";
  for (const std::string& line : document_.guidance) item(markdown_text(line));
}

void ImportMarkdown::comparison(const ImportBaseline& baseline) {
  heading("Baseline Comparison");
  out_ += "\n";
  item("Baseline artifact: " + markdown_code(baseline.source));
  item("Baseline started: " + markdown_code(baseline.started_at));
  item(fmt::format("Compared scenarios: `{}`", baseline.deltas.size()));
  const auto highlight = [&](const char* what, const ImportDelta* delta) {
    if (delta == nullptr) return;
    item(fmt::format("Largest wall-time {}: {} on {} at {:+.2f} ({:+.1f}%)", what,
                     markdown_code(delta->scenario), markdown_code(delta->target), delta->wall.delta,
                     delta->wall.percent));
  };
  highlight("improvement", baseline.largest_improvement());
  highlight("regression", baseline.largest_regression());
  if (!baseline.missing.empty())
    item("Scenarios missing from baseline: " + markdown_text(text::join(baseline.missing, ", ")));
  if (!baseline.baseline_only.empty())
    item("Baseline-only scenarios: " + markdown_text(text::join(baseline.baseline_only, ", ")));
  out_ += markdown_head(
      {"Scenario", "Runtime", "Wall delta (ms)", "Wall delta %", "Import delta (ms)",
       "Startup overhead delta (ms)", "Context delta (ms)", "Startup delta (ms)", "Completion delta (ms)"},
      2);
  for (const ImportDelta& delta : baseline.deltas) {
    out_ += markdown_line({markdown_code(delta.scenario), markdown_code(delta.target), signed_ms(delta.wall),
                           fmt::format("{:+.1f}%", delta.wall.percent), signed_ms(delta.guest_import),
                           signed_ms(delta.startup_overhead), signed_ms(delta.context_setup),
                           signed_ms(delta.startup), signed_ms(delta.completion)});
  }
  verdicts(baseline);
}

void ImportMarkdown::verdicts(const ImportBaseline& baseline) {
  if (baseline.comparisons.empty()) return;
  out_ +=
      "\nDeltas are of means. What the samples allow to say, p50 of this run against p50 of the baseline:\n";
  out_ += markdown_head(
      {"Scenario", "Runtime", "Metric", "Verdict", "Why", "Difference (95 % CI)", "Ratio (95 % CI)"}, 5);
  for (const Comparison& one : baseline.comparisons) {
    const auto with = [](const std::string& point, const std::optional<Interval>& interval) {
      return interval ? fmt::format("{} ({})", point, interval_text(*interval)) : point;
    };
    const std::string difference =
        one.difference ? fmt::format("{:+.3f} {}", *one.difference, one.unit) : "n/a";
    const std::string ratio = one.ratio ? text::significant(*one.ratio) + "×" : "n/a";
    out_ += markdown_line(
        {markdown_code(one.row), markdown_code(one.subject), markdown_code(one.metric),
         one.verdict ? std::string(name_of(*one.verdict)) : "", markdown_text(one.reason.value_or("")),
         markdown_text(with(difference, one.difference_interval)), markdown_text(with(ratio, one.interval))});
  }
}

void ImportMarkdown::checks() {
  heading("Checks");
  out_ += "\n";
  item(markdown_text(invariants_text(document_)));
  for (const std::string& failure : broken_invariants(document_)) item(markdown_text(failure));
  for (const Finding& finding : document_.findings) item(markdown_text(finding_text(finding)));
}

void ImportMarkdown::raw_samples() {
  heading("Raw Samples");
  struct Raw {
    const char* metric;
    const char* label;
    double divisor;
  };
  static constexpr Raw raws[] = {{"total", "Wall samples (ms)", 1},
                                 {"guest_execution", "Guest execution samples (ms)", 1},
                                 {"startup_overhead", "Startup overhead samples (ms)", 1},
                                 {"context_setup", "Context setup samples (ms)", 1},
                                 {"startup", "Startup samples (ms)", 1},
                                 {"completion", "Completion samples (ms)", 1},
                                 {"engine_start", "Engine start samples (ms)", 1},
                                 {"fresh_process", "Fresh process samples (ms)", 1},
                                 {"rss", "RSS samples (MiB)", mib},
                                 {"heap_used", "Heap samples (MiB)", mib},
                                 {"cpu_total", "Total CPU samples (ms)", 1}};
  for (const ImportLine& line : lines_) {
    out_ += fmt::format("\n### {} on {}\n\n", markdown_code(line.scenario.id), markdown_code(line.target));
    item("Workload: " + markdown_code(line.scenario.workload));
    item("Mode: " + markdown_code(line.scenario.mode));
    item("Description: " + markdown_text(line.scenario.description));
    for (const Raw& raw : raws) {
      if (const Metric* metric = line.metric(raw.metric))
        item(fmt::format("{}: {}", raw.label, sample_list(*metric, raw.divisor)));
    }
  }
}

}  // namespace

std::string import_markdown(const Document& document, const ImportBaseline* baseline) {
  return ImportMarkdown(document, baseline).build();
}

}  // namespace tare::report
