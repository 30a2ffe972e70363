#include "lab/report/bench_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/bench_sections.hpp"
#include "lab/report/benches.hpp"
#include "lab/report/figures.hpp"
#include "lab/report/provenance.hpp"
#include "lab/report/sections.hpp"

namespace tare::report {
namespace {

class Report {
 public:
  Report(const Document& document, const RenderOptions& options)
      : document_(document), options_(options), out_(options) {
    for (const std::string& bench : benches_of(document)) parts_.push_back(part_of(document, bench));
    if (parts_.empty()) parts_.push_back(document);
  }

  std::string build() {
    head();
    for (const Document& part : parts_) bench(part);
    out_.blank();
    findings();
    verdicts();
    out_.say("wrote", text::join(options_.wrote, " · "));
    return out_.take();
  }

 private:
  void head();
  void bench(const Document& part);
  void findings();
  void verdicts();

  const Document& document_;
  const RenderOptions& options_;
  std::vector<Document> parts_;  ///< one for each bench
  Sections out_;
};

void Report::head() {
  out_.say("host", host_line(document_));
  std::vector<std::string> plans;
  for (const Document& part : parts_) plans.push_back(plan_line(part));
  out_.say_each("plan", plans);
  for (const Document& part : parts_) out_.say_each("detects", detectable_lines(part));
  if (!document_.complete) {
    out_.say("partial", "the run was cut short; this is what was measured until then", Tone::warn);
  }
}

void Report::bench(const Document& part) {
  const std::string name = part.rows.empty() ? "" : part.rows.front().bench;
  if (name == "agents") {
    agents_sections(part, out_);
  } else if (name == "import") {
    import_sections(part, out_);
  } else if (name == "gateway") {
    gateway_sections(part, out_);
  } else {
    spawn_sections(part, out_);
  }
}

void Report::findings() {
  std::vector<std::string> lines;
  for (const Finding& finding : document_.findings) {
    lines.push_back(finding_text(finding));
  }
  out_.say_each("findings", lines);
  out_.say_each("guidance", document_.guidance);
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
    out_.say(&budget == document_.budgets.data() ? "budgets" : "", line, tone);
  }
  const std::vector<std::string> broken = broken_invariants(document_);
  const std::string checked = invariants_text(document_);
  const Tone unbroken = checked.starts_with("all ") ? Tone::good : Tone::warn;
  out_.say("invariants", checked, broken.empty() ? unbroken : Tone::bad);
  out_.say_each("", broken, Tone::bad);
}

}  // namespace

bool show_table(const Table& table, const Footnotes& notes, Sections& out) {
  out.blank();
  if (table.lanes.empty()) {
    out.say("result", "nothing was measured", Tone::bad);
    return false;
  }
  out.add(table);
  for (const std::string& note : notes.lines()) out.add_flow(note);
  out.blank();
  return true;
}

void missing_lanes(const Document& document, const std::vector<const Target*>& missing, Sections& out) {
  const Figures figures(document);
  std::vector<std::string> lines;
  for (const Target* target : missing) {
    std::vector<std::string> reasons;
    for (const std::string& row : figures.rows()) {
      if (figures.row(row, target->id) == nullptr) continue;
      std::string reason = figures.why_missing(row, target->id);
      if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(std::move(reason));
    }
    if (reasons.empty())
      reasons.emplace_back(document.complete ? "no rows" : "not reached before the run ended");
    lines.push_back(target->id + ": " + text::join(reasons, "; "));
  }
  out.say_each("missing", lines, Tone::warn);
}

void missing_lanes(const Document& document, const Table& table, Sections& out) {
  std::vector<const Target*> missing;
  const Figures figures(document);
  for (const Target& target : figures.targets()) {
    if (std::ranges::none_of(table.lanes, [&](const Lanes& lane) { return lane.title == target.id; }))
      missing.push_back(&target);
  }
  missing_lanes(document, missing, out);
}

std::string worker_ratio_sign(const Document& document) {
  const std::string worker = repeated_unit(document);
  const bool paired = repetitions(document) >= 6;
  return fmt::format("÷ {} · ≈ its interval holds 1 · ? too few samples for an interval",
                     paired ? fmt::format("median of the {}s' own ratios", worker)
                            : "ratio of the two p50 over all samples");
}

std::string render(const Document& document, const RenderOptions& options) {
  return Report(document, options).build();
}

}  // namespace tare::report
