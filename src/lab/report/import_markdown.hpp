#pragma once

#include <string>

#include "lab/report/document.hpp"
#include "lab/report/import_baseline.hpp"

namespace tare::report {

/// A run of the import bench as GitHub Markdown, with all sections of the seed's report, for every lane. Ends
/// with a newline. `baseline` may be null.
std::string import_markdown(const Document& document, const ImportBaseline* baseline);

}  // namespace tare::report
