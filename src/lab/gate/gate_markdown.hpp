#pragma once

#include <cstddef>
#include <string>

#include "lab/gate/gate.hpp"

namespace tare::gate {

/// A gate as GitHub Markdown, for a step summary or a comment: the verdict in the first line, every budget in
/// a table, the worst first. Ends with a newline.
std::string gate_markdown(const GateDocument& gate);

/// The same in at most `limit` bytes: lines that do not fit are left out from the end, and a last line says
/// so.
std::string gate_markdown(const GateDocument& gate, std::size_t limit);

}  // namespace tare::gate
