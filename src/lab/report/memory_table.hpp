#pragma once

#include <string>
#include <vector>

#include "lab/report/figures.hpp"
#include "lab/report/layout.hpp"

/// Rows that read the memory of a runtime: their figures are sizes, and how long they took compares nothing.
namespace tare::report {

/// The rows with figures in bytes, and their siblings of other sizes, which may lack them (`memory_64` beside
/// `memory_4`). In the document's order; nothing when none of them was measured.
std::vector<std::string> memory_rows(const Figures& figures);

/// A table for each kind of such rows: p50 of each size on each lane that has any of them.
std::vector<Table> memory_tables(const Figures& figures, const std::vector<std::string>& rows,
                                 Footnotes& notes);

}  // namespace tare::report
