#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/agents_table.hpp"
#include "lab/report/bench_sections.hpp"
#include "lab/report/provenance.hpp"

namespace tare::report {
namespace {

/// As much beside each p50 as fits without a split.
Table widest_table(const Figures& figures, std::size_t width, Footnotes& notes) {
  for (const AgentColumns columns : {AgentColumns::interval, AgentColumns::memory}) {
    Footnotes tried;
    Table table = agents_table(figures, columns, tried);
    if (natural_width(table) > width) continue;
    notes = std::move(tried);
    return table;
  }
  return agents_table(figures, AgentColumns::ratio, notes);
}

std::string signs(const Document& document) {
  if (document.comparisons.empty()) return {};
  const bool paired = config_number(document, "processes").value_or(1) >= 6;
  return fmt::format("÷ {} · ≈ its interval holds 1 · ? too few samples for an interval",
                     paired ? "median of the workers' own ratios" : "ratio of the two p50 over all samples");
}

}  // namespace

void agents_sections(const Document& document, Sections& out) {
  const Figures figures(document);
  Footnotes notes;
  const Table table = widest_table(figures, out.options().width, notes);
  out.blank();
  if (table.lanes.empty()) {
    out.say("result", "nothing was measured", Tone::bad);
  } else {
    out.add(table);
    for (const std::string& note : notes.lines()) out.add_flow(note);
    out.blank();
    out.say_each("halves", halves(figures));
    out.say_each("per row", costs_per_row(figures));
    out.say("signs", signs(document));
  }
  out.say("memory", memory_line(document));
  std::vector<const Target*> missing;
  for (const Target& target : figures.targets()) {
    if (std::ranges::none_of(table.lanes, [&](const Lanes& lane) { return lane.title == target.id; }))
      missing.push_back(&target);
  }
  missing_lanes(document, missing, out);
}

}  // namespace tare::report
