#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/agents_table.hpp"
#include "lab/report/bench_sections.hpp"
#include "lab/report/provenance.hpp"

namespace tare::report {

void agents_sections(const Document& document, Sections& out) {
  const Figures figures(document);
  Footnotes notes;
  const Table table = widest_table(
      {AgentColumns::interval, AgentColumns::memory, AgentColumns::ratio}, notes,
      [&](auto columns, Footnotes& its) { return agents_table(figures, columns, its); },
      [&](const Table& made) { return natural_width(made) <= out.options().width; });
  if (show_table(table, notes, out)) {
    out.say_each("halves", halves(figures));
    out.say_each("per row", costs_per_row(figures));
    if (!document.comparisons.empty()) out.say("signs", worker_ratio_sign(document));
  }
  out.say("memory", memory_line(document));
  missing_lanes(document, table, out);
}

}  // namespace tare::report
