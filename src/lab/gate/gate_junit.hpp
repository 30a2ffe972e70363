#pragma once

#include <string>
#include <string_view>

#include "lab/gate/gate.hpp"

namespace tare::gate {

/// A gate as JUnit XML: one test case for each result. fail is a failure, unmeasured an error, inconclusive
/// is skipped. Ends with a newline.
std::string gate_junit(const GateDocument& gate);

/// Foreign text for an attribute or an element: XML's own characters are replaced; bad UTF-8 and characters
/// that XML 1.0 cannot hold are escaped as \xHH.
std::string xml_text(std::string_view text);

}  // namespace tare::gate
