#pragma once

#include <span>
#include <string>
#include <vector>

#include "lab/report/figures.hpp"
#include "lab/report/layout.hpp"

/// The two tables of a terminal report: one row in full, and every other row in one line.
namespace tare::report {

/// Which rows and lanes go where.
struct LanePlan {
  std::vector<std::string> rows;       ///< in the tables; the first is shown in full
  std::vector<std::string> floors;     ///< only floor lanes have these; they stand in a line of their own
  std::vector<std::string> memory;     ///< sizes, which stand in tables of their own
  std::vector<const Target*> lanes;    ///< with a figure in some row of the tables
  std::vector<const Target*> missing;  ///< without any figure at all
};

/// Rows that show how cheap a process can be.
std::vector<std::string> usual_floor_rows();

/// The first row that has a figure leads. `floor_rows` stay out of the tables as long as only floor lanes
/// have them and other rows exist.
LanePlan plan_lanes(const Figures& figures, const std::vector<std::string>& floor_rows);

/// The leading row in full: quantiles and interval, its other metrics, CPU, memory, taxes with intervals.
Table headline_table(const Figures& figures, const LanePlan& plan, Footnotes& notes);

/// What stands beside the p50 and the tax of each lane.
enum class Beside { nothing, cpu, cpu_and_memory };

/// These rows of the plan, one line each. Figures in another unit than the leading row's name theirs.
Table rows_table(const Figures& figures, const LanePlan& plan, std::span<const std::string> rows,
                 Beside beside, Footnotes& notes);

/// The n of a row over these lanes: "n=200"; "n=198/200" (the lane with the most failures); "n=56–57".
std::string n_text(const Figures& figures, const std::string& row, const std::vector<const Target*>& lanes);

}  // namespace tare::report
