#pragma once

#include <string>
#include <vector>

#include "lab/report/document.hpp"
#include "lab/report/terminal.hpp"

namespace tare::report {

struct RenderOptions {
  std::size_t width = default_width;  ///< of the terminal, in cells
  Colour colour = Colour::off;
  std::vector<std::string> wrote;  ///< files that were written, for the last line
  /// Rows that show how cheap a process can be; they stand in one line below the table as long as only
  /// floor lanes have them.
  std::vector<std::string> floor_rows{"exec_true", "spawn_exit"};
};

/// What a run found, for a terminal: where it ran, the first row in full, every other row in a line, what
/// is missing and why, findings, and whether every sample was right. Ends with a newline.
/// Each figure comes from the document; one that is missing is "n/a" with a footnote that says why.
std::string render(const Document& document, const RenderOptions& options);

}  // namespace tare::report
