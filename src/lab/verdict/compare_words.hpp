#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/report/figures.hpp"
#include "lab/report/terminal.hpp"
#include "lab/verdict/compare.hpp"

/// What the table and the Markdown of a comparison say in the same words. Nothing here computes a statistic.
namespace tare::verdict {

/// How many entries ended in each change, in the order of `Change`.
using Tally = std::array<std::size_t, 5>;
Tally tally(std::span<const Entry* const> entries);

/// "2 worse, 1 better, 9 same": worst first, without those that did not happen; "" of nothing.
std::string tally_text(const Tally& tally);

/// A whole comparison in one clause, and how it looks: counts of the figures that a table shows at once.
struct Headline {
  std::string text;  ///< "2 worse, 1 better, 9 same; 1 row only in the base"
  report::Tone tone = report::Tone::plain;
};
Headline headline(const Comparison& comparison);

/// How the word of an entry looks. A change that its verdict does not follow is a warning.
report::Tone tone_of(const Entry& entry);

/// Entries in reading order.
struct Reading {
  std::vector<const Entry*> main;  ///< one for each row and lane: p50 of "total", else of its first metric
  /// Other metrics and quantiles that are better or worse, or missing although the row is there.
  std::vector<const Entry*> changed;
  std::vector<const Entry*> rest;  ///< all others
};
Reading read_order(const Comparison& comparison);

std::string lane_text(const Entry& entry);    ///< "node"; "bun ÷ node" of two lanes
std::string metric_text(const Entry& entry);  ///< "total p50"
std::string change_text(const Entry& entry);  ///< "worse"; "worse?" when the verdict is inconclusive

/// What the figures rest on: "30 pairs" of rounds; else processes × samples of each: "10×20", "10×20, 8×20"
/// when the sides differ, "10×≈20" when processes do.
std::string n_text(const Comparison& comparison, const Entry& entry);

report::Figure base_figure(const Entry& entry);
report::Figure now_figure(const Entry& entry);
report::Figure ratio_figure(const Entry& entry);       ///< "1.05× (1.03–1.07)"; "1.05×" without an interval
report::Figure difference_figure(const Entry& entry);  ///< "+1.40", in the entry's unit
std::string effect_text(const Entry& entry);           ///< Cliff's δ, "+0.71"; "" when there is none
std::string p_text(const Entry& entry);           ///< adjusted by Holm: "0.013", "<0.001"; "" when untested
std::string detectable_text(const Entry& entry);  ///< "1.2 %"; "" when unknown

/// "old.json · 2026-01-31 12:00 UTC · tare 0.1.0 · cut short"; the host is left to the caller.
std::string run_text(const Side& side);

/// "kernel: 6.1.0 → 6.2.0"
std::string difference_text(const Difference& difference);

/// What a reader must know about this comparison before its figures.
std::vector<std::string> warnings(const Comparison& comparison);

/// The rules and methods behind the figures, a sentence each.
std::vector<std::string> how_lines(const ComparisonDocument& document);

/// "2 rows": with the plural of a regular noun.
std::string counted(std::size_t n, std::string_view noun);

}  // namespace tare::verdict
