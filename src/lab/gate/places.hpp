#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/gate/budget.hpp"
#include "lab/report/document.hpp"

/// Where a budget applies.
namespace tare::gate {

/// A row of a target that a budget matches.
struct Place {
  std::string row;
  std::string target;
  const report::Row* now = nullptr;   ///< null: the run lacks it
  const report::Row* base = nullptr;  ///< of a relative budget; null: what it is relative to lacks it
};

struct Places {
  std::vector<Place> found;
  std::size_t skipped = 0;  ///< rows left out because the run marks them unavailable
  std::string reason;       ///< why nothing was found
};

/// The rows of the run that a budget matches; of a relative one also those that only the baseline has, so
/// that a row that vanished is not forgotten. `baseline` may be null.
Places places_of(const BudgetSpec& budget, const report::Document& run, const report::Document* baseline);

/// The metrics of a place that a budget matches: those that either side has; an exact name always.
std::vector<std::string> metrics_of(const BudgetSpec& budget, const Place& place);

/// Why a row has no figure: it is missing, unavailable or failed. Nothing when it has some.
std::optional<std::string> why_no_row(const report::Row* row, std::string_view where);

}  // namespace tare::gate
