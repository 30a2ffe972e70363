#pragma once

#include <string>
#include <vector>

#include "lab/report/document.hpp"
#include "lab/report/terminal.hpp"

namespace tare::report {

struct RenderOptions {
  std::size_t width = default_width;  ///< of the terminal, in cells
  Colour colour = Colour::off;
  std::vector<std::string> wrote = {};  ///< files that were written, for the last line
};

/// What a run found, for a terminal: where it ran, the first row in full, every other row in a line, what
/// is missing and why, findings, and whether every sample was right. Ends with a newline. Rows that only
/// floor lanes have, as exec_true, stand in a line of their own.
/// Each figure comes from the document; one that is missing is "n/a" with a footnote that says why.
std::string render(const Document& document, const RenderOptions& options);

}  // namespace tare::report
