#include <fmt/format.h>

#include "lab/report/bench_sections.hpp"
#include "lab/report/gateway_lines.hpp"
#include "lab/report/gateway_table.hpp"

namespace tare::report {

void gateway_sections(const Document& document, Sections& out) {
  const Figures figures(document);
  Footnotes notes;
  const Table table = widest_table(
      {GatewayColumns::p95_p99_max, GatewayColumns::p95_p99, GatewayColumns::p99, GatewayColumns::p50}, notes,
      [&](auto columns, Footnotes& its) { return gateway_table(figures, columns, its); },
      [&](const Table& made) { return natural_width(made) <= out.options().width; });
  if (show_table(table, notes, out)) {
    out.say_each(loop_name(document), loop_lines(document));
    out.say_each("pessimistic", pessimistic_lines(document), Tone::warn);
    out.say_each("correctness", correctness_lines(document));
    if (!document.comparisons.empty()) out.say("signs", worker_ratio_sign(document));
  }
  out.say_each("violations", violation_lines(document), Tone::bad);
  missing_lanes(document, table, out);
}

}  // namespace tare::report
