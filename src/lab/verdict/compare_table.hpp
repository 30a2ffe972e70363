#pragma once

#include <string>
#include <vector>

#include "lab/report/terminal.hpp"
#include "lab/verdict/compare.hpp"

namespace tare::verdict {

/// Which metrics and quantiles a table shows beside the p50 of each row's main metric.
enum class Metrics {
  changed,  ///< those that are better or worse; the others are counted
  every,
};

struct TableOptions {
  std::size_t width = report::default_width;  ///< of the terminal, in cells
  report::Colour colour = report::Colour::off;
  Metrics metrics = Metrics::changed;
  std::vector<std::string> wrote = {};  ///< files that were written, for the last line
};

/// A comparison for a terminal: the verdict first, then the two sides and what differs between them, one
/// line a row and lane, each missing figure with its reason once, and how it was judged. Ends with a newline.
/// A terminal too narrow for every column loses those that the verdict needs least, and the table says which.
std::string render(const ComparisonDocument& document, const TableOptions& options);

}  // namespace tare::verdict
