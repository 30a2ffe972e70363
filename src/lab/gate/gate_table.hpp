#pragma once

#include <cstddef>
#include <string>

#include "lab/gate/gate.hpp"
#include "lab/report/terminal.hpp"

namespace tare::gate {

/// A gate for a terminal: the verdict first, then what did not pass with limit, figure and reason, then the
/// passes in a line each. Fits `width` columns where that can be; safe to print.
std::string gate_table(const GateDocument& gate, std::size_t width, report::Colour colour);

}  // namespace tare::gate
