#pragma once

#include <span>
#include <string>
#include <vector>

#include "lab/report/figures.hpp"
#include "lab/report/layout.hpp"

/// The bench `agents` in a report: each scenario with a line for each of its sizes.
namespace tare::report {

/// "310 ns", "31.2 µs", "1.25 ms", "2.50 s": the figures of one scenario lie orders of magnitude apart.
std::string duration_text(double ms);

/// What stands beside the p50 of each lane. From left to right, more room is needed.
enum class AgentColumns { ratio, memory, interval };

/// Every row of the document, which is of this bench alone. Reasons of missing figures go into `notes`.
Table agents_table(const Figures& figures, AgentColumns columns, Footnotes& notes);

/// The two halves of the scenarios that have them: "spawnSettleEndToEnd_8, node: spawn 1.20 ms · settle 800
/// µs".
std::vector<std::string> halves(const Figures& figures);

/// What one row of a large registry costs: "sweepScale, embedded: 310 ns (1,000 rows) · 402 ns (1,000,000)".
std::vector<std::string> costs_per_row(const Figures& figures);

/// "lab 8.1 MB, then 9.0 MB · largest worker 43 MB"; "" when the document does not say.
std::string memory_line(const Document& document);

}  // namespace tare::report
