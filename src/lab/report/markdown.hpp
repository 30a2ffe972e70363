#pragma once

#include <string>
#include <string_view>

#include "lab/report/document.hpp"

namespace tare::report {

/// A run document as GitHub Markdown: the verdict in the first line, an overview, every metric of every row,
/// comparisons with intervals, findings, invariants, and how and where it was measured. Ends with a newline.
std::string markdown(const Document& document);

/// Text of others as it stands: Markdown's own characters are escaped, so that a name with a `|` stays one
/// cell. One line.
std::string markdown_text(std::string_view text);

/// The same in a code span; "" stays "".
std::string markdown_code(std::string_view text);

}  // namespace tare::report
