#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/report/bench_sections.hpp"
#include "lab/report/import_lines.hpp"
#include "lab/report/import_table.hpp"
#include "lab/report/provenance.hpp"

namespace tare::report {
namespace {

/// Whether each lane fits beside the labels; a table that is too wide is split between lanes.
bool lanes_fit(const Table& table, std::size_t width) {
  std::size_t first = 0;
  for (const Lanes& lane : table.lanes) {
    Table one;
    one.title = table.title;
    one.lanes = {lane};
    for (const TableLine& line : table.lines) {
      const auto cells = line.cells.begin() + static_cast<std::ptrdiff_t>(first);
      one.lines.push_back(
          {line.labels, {cells, cells + static_cast<std::ptrdiff_t>(lane.columns.size())}, line.note});
    }
    if (natural_width(one) > width) return false;
    first += lane.columns.size();
  }
  return true;
}

/// How long the engine takes to start, which is in no wall time.
std::vector<std::string> engine_starts(const Document& document) {
  std::vector<std::string> lines;
  const std::vector<ImportLine> all = import_lines(document);
  for (const std::string& target : import_targets(document)) {
    std::vector<double> starts;
    std::optional<double> life;
    for (const ImportLine& line : lines_of(all, target)) {
      if (const Metric* start = line.metric("engine_start")) {
        for (const double value : good_values(*start)) starts.push_back(value);
      }
      if (!life) life = line.mean("fresh_process");
    }
    if (starts.empty()) continue;
    std::ranges::sort(starts);
    std::string line =
        fmt::format("{}: {} ms to start, p50 of {} engines", target,
                    text::significant(measure::quantile_of_sorted(starts, 0.5)), starts.size());
    if (life) line += fmt::format("; a whole life in a fresh one {} ms", text::significant(*life));
    lines.push_back(std::move(line));
  }
  return lines;
}

/// What a run says of its baseline: how many wall times got better or worse, and which moved furthest.
std::string baseline_line(const Document& document) {
  std::map<Verdict, std::size_t> counts;
  const Comparison* best = nullptr;
  const Comparison* worst = nullptr;
  std::string source;
  for (const Comparison& one : document.comparisons) {
    if (one.kind != ComparisonKind::baseline || one.metric != "total") continue;
    source = one.reference;
    counts[one.verdict.value_or(Verdict::unmeasured)] += 1;
    if (!one.difference) continue;
    if (*one.difference < 0 && (best == nullptr || *one.difference < *best->difference)) best = &one;
    if (*one.difference > 0 && (worst == nullptr || *one.difference > *worst->difference)) worst = &one;
  }
  if (source.empty()) return {};
  std::vector<std::string> parts{fmt::format("{}: {} wall times no worse, {} worse, {} inconclusive", source,
                                             counts[Verdict::pass], counts[Verdict::fail],
                                             counts[Verdict::inconclusive] + counts[Verdict::unmeasured])};
  const auto add = [&](const char* what, const Comparison* one) {
    if (one == nullptr) return;
    parts.push_back(fmt::format("largest {}: {} on {}, {}{} {} at p50{}", what, one->row, one->subject,
                                *one->difference > 0 ? "+" : "", text::significant(*one->difference),
                                one->unit, one->verdict == Verdict::inconclusive ? ", inconclusive" : ""));
  };
  add("improvement", best);
  add("regression", worst);
  return text::join(parts, " · ");
}

std::string import_signs(const Document& document) {
  if (document.comparisons.empty()) return {};
  return "execution: what the program's imports took · overhead: the rest of wall · " +
         worker_ratio_sign(document);
}

}  // namespace

void import_sections(const Document& document, Sections& out) {
  const Figures figures(document);
  Footnotes notes;
  const Table table = widest_table(
      {ImportColumns::interval, ImportColumns::phases, ImportColumns::ratio}, notes,
      [&](auto columns, Footnotes& its) { return import_table(figures, columns, its); },
      [&](const Table& made) { return lanes_fit(made, out.options().width); });
  if (show_table(table, notes, out)) {
    out.say_each("engines", engine_starts(document));
    out.say("baseline", baseline_line(document));
    out.say("signs", import_signs(document));
  }
  missing_lanes(document, table, out);
}

}  // namespace tare::report
