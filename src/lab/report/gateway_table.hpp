#pragma once

#include <string>

#include "lab/report/figures.hpp"
#include "lab/report/layout.hpp"

/// The bench `gateway` in a report: one table with every figure, the answer first.
namespace tare::report {

/// What stands beside the p50 of each lane. From left to right, more room is needed.
enum class GatewayColumns { p50, p99, p95_p99, p95_p99_max };

/// Every row of the document, which is of this bench alone: a line for each metric that some lane has.
/// Reasons of missing figures go into `notes`.
Table gateway_table(const Figures& figures, GatewayColumns columns, Footnotes& notes);

/// How the table calls a row: "sessions.list" of "sessions_list".
std::string gateway_row_label(std::string_view row);

/// The lane that others are divided by; "" when none is.
std::string gateway_reference(const Figures& figures);

}  // namespace tare::report
