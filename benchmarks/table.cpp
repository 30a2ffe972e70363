#include "table.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/report/figures.hpp"
#include "lab/report/layout.hpp"
#include "lab/report/markdown.hpp"

namespace tare::benchmarks {
namespace {

using report::Align;
using report::Tone;

std::string figure(const std::optional<double>& value, std::string_view unit) {
  return value ? text::significant(*value) + " " + std::string(unit) : "–";
}

std::string interval(const Result& result) {
  if (!result.interval) return "–";
  const auto [low, high] = *result.interval;
  return result.ratio ? fmt::format("{:.3f}–{:.3f}×", low, high)
                      : text::significant(low) + "–" + text::significant(high) + " " + result.unit;
}

Tone tone_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return Tone::good;
    case Verdict::fail:
      return Tone::bad;
    case Verdict::inconclusive:
    case Verdict::unmeasured:
      return Tone::warn;
  }
  return Tone::plain;
}

const char* const heads[] = {"measured", "against", "ratio", "95 % interval", "must reach", "verdict"};

std::vector<std::string> cells_of(const Result& result) {
  return {figure(result.measured, result.unit),
          figure(result.against, result.unit),
          result.ratio ? fmt::format("{:.3f}×", *result.ratio) : "–",
          interval(result),
          limit_text(result),
          std::string(report::name_of(result.verdict))};
}

}  // namespace

std::string limit_text(const Result& result) {
  const bool is_ratio = result.judged == Judged::ratio;
  const std::string unit = is_ratio ? "×" : " " + result.unit;
  const auto number = [&](const json::Value& value) {
    const auto figure = value.to_number<double>();
    if (!is_ratio) return text::significant(figure);
    const bool is_short = std::abs(figure * 100 - std::round(figure * 100)) < 1e-6;
    return fmt::format("{:.{}f}", figure, is_short ? 2 : 3);  // 0.75 and 0.125
  };
  const json::Array* both = result.limit.if_array();
  if (both == nullptr) return "≤ " + number(result.limit) + unit;
  if (both->at(1).is_null()) return "≥ " + number(both->at(0)) + unit;
  return number(both->at(0)) + "–" + number(both->at(1)) + unit;
}

std::string table(std::span<const Result> results, const report::TerminalFacts& terminal) {
  report::Table table;
  report::Lanes lane;
  for (const char* head : heads) lane.columns.push_back({head, Align::right});
  table.lanes.push_back(std::move(lane));
  std::string remarks;
  for (const Result& result : results) {
    report::TableLine line{{result.id}, {}, {}};
    for (std::string& cell : cells_of(result)) line.cells.push_back({std::move(cell)});
    line.cells.back().tone = tone_of(result.verdict);
    table.lines.push_back(std::move(line));
    if (result.verdict == Verdict::pass || result.reason.empty()) continue;
    remarks += report::flow(result.id + ": " + result.reason, terminal.width);
  }
  return report::lay_out(table, terminal.width, terminal.colour) + remarks;
}

std::string markdown(std::span<const Result> results, std::string_view provenance) {
  std::string out = report::markdown_text(provenance) + "\n\n| id | " +
                    fmt::format("{}", fmt::join(heads, " | ")) + " |\n|---|---:|---:|---:|---:|---:|---|\n";
  for (const Result& result : results)
    out += fmt::format("| `{}` | {} |\n", result.id, fmt::join(cells_of(result), " | "));
  out += '\n';
  for (const Result& result : results) {
    if (!result.reason.empty())
      out += fmt::format("- `{}`: {}\n", result.id, report::markdown_text(result.reason));
  }
  return out;
}

}  // namespace tare::benchmarks
