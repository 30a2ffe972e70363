#pragma once

#include "lab/report/figures.hpp"
#include "lab/report/layout.hpp"

namespace tare::report {

/// How much stands beside the wall time of each lane.
enum class ImportColumns {
  ratio,     ///< the ratio to the reference
  phases,    ///< and guest execution and startup overhead
  interval,  ///< and the interval of the ratio
};

/// The p50 of every row on every lane that has some, in milliseconds.
Table import_table(const Figures& figures, ImportColumns columns, Footnotes& notes);

}  // namespace tare::report
