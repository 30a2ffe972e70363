#pragma once

#include <string>
#include <string_view>
#include <vector>

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

/// A table's head: the first `text_columns` are aligned left, the others, figures, right. The cells are
/// Markdown.
std::string markdown_head(const std::vector<std::string>& heads, std::size_t text_columns);

/// One of its lines.
std::string markdown_line(const std::vector<std::string>& cells);

}  // namespace tare::report
