#pragma once

#include <string>
#include <string_view>

namespace tare::report {

/// Compares with tests/golden/NAME, and says which line differs first. With TARE_UPDATE_GOLDEN=1 in the
/// environment it writes the file instead; read the change before you commit it.
void expect_golden(std::string_view name, const std::string& text);

}  // namespace tare::report
