#include "lab/gate/gate_markdown.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/gate/gate_words.hpp"
#include "lab/report/figures.hpp"
#include "lab/report/markdown.hpp"

namespace tare::gate {
namespace {

using report::markdown_code;
using report::markdown_line;
using report::markdown_text;

std::string side_line(std::string_view label, const Side& side) {
  return fmt::format("- {}: {}, {}, {}, {}{}\n", label, markdown_code(side.source),
                     markdown_text(side.started_at), markdown_text(side.tool), markdown_text(side.host),
                     side.complete ? "" : ", **incomplete**");
}

std::string result_line(const BudgetResult& result) {
  const std::string_view verdict = report::name_of(result.verdict);
  const bool everywhere = result.kind == FigureKind::invariants;
  return markdown_line(
      {result.verdict == report::Verdict::pass ? std::string(verdict) : fmt::format("**{}**", verdict),
       markdown_text(result.id), everywhere ? "" : markdown_code(result.row),
       everywhere ? "" : markdown_code(result.target), markdown_text(figure_name(result)),
       markdown_text(result.limit), markdown_text(point_text(result)), markdown_text(interval_text(result)),
       markdown_text(result.reason.value_or(""))});
}

}  // namespace

std::string gate_markdown(const GateDocument& gate) {
  std::string out = fmt::format("# Gate: {}\n\n", markdown_text(gate_title(gate)));
  out += markdown_line(
      {"verdict", "budget", "row", "target", "figure", "limit", "measured", "95 % CI", "reason"});
  out += "| --- | --- | --- | --- | --- | ---: | ---: | ---: | --- |\n";
  for (const BudgetResult* result : worst_first(gate)) out += result_line(*result);
  out += "\n" + side_line("run", gate.run);
  if (gate.baseline) out += side_line("baseline", *gate.baseline);
  for (const std::string& note : gate.notes) out += fmt::format("- note: {}\n", markdown_text(note));
  return out;
}

std::string gate_markdown(const GateDocument& gate, std::size_t limit) {
  std::string out = gate_markdown(gate);
  if (out.size() <= limit) return out;
  constexpr std::string_view cut = "\nThe rest is left out: the summary may not be larger.\n";
  if (limit <= cut.size()) return {};
  const std::size_t end = out.rfind('\n', limit - cut.size() - 1);
  out.resize(end == std::string::npos ? 0 : end + 1);
  return out.empty() ? out : out + std::string(cut);
}

}  // namespace tare::gate
