#pragma once

#include <string_view>

#include "lab/report/document.hpp"

namespace tare::report {

/// Throws Error(input) for a document that no run could have written: arrays that are not parallel, figures
/// that do not follow from the samples beside them, a row or target that is there twice. Whoever judges by a
/// document may then trust its summaries. `source` names it in errors.
void check_consistent(const Document& document, std::string_view source);

}  // namespace tare::report
