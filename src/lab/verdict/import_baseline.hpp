#pragma once

#include <string_view>
#include <vector>

#include "lab/report/import_baseline.hpp"

namespace tare::verdict {

/// The part of a document that a run of the import bench can be compared with. Throws Error(input) when it
/// has no rows of that bench, or one in a unit that is none of its kind; `source` names it.
report::Document import_baseline_of(const report::Document& document, std::string_view source);

/// This run against a baseline that import_baseline_of returned: differences of means scenario by scenario,
/// and what the samples allow to say of wall time, imports and startup overhead (p50 of processes, unpaired;
/// fewer than four processes a side are inconclusive).
report::ImportBaseline compare_import(const report::Document& baseline, std::string_view source,
                                      const report::Document& now);

/// What a reader of such a comparison should know: that the baseline is of another machine or build, or of a
/// run that was cut short, and how many rows one has and the other has not.
std::vector<report::Finding> baseline_findings(const report::Document& baseline,
                                               const report::ImportBaseline& comparison,
                                               const report::Document& now);

}  // namespace tare::verdict
