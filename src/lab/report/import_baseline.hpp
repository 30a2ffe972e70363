#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/report/document.hpp"

/// What `tare import --baseline` found, as reports show it; lab/verdict/import_baseline computes it.
namespace tare::report {

/// Mean against mean, in ms.
struct MeanDelta {
  double base = 0;
  double now = 0;
  double delta = 0;
  double percent = 0;  ///< of the base; 0 when that is no time
};

struct ImportDelta {
  std::string scenario;
  std::string target;
  std::string description;
  MeanDelta wall;
  std::optional<MeanDelta> guest_import;
  std::optional<MeanDelta> startup_overhead;
  std::optional<MeanDelta> context_setup;
  std::optional<MeanDelta> startup;
  std::optional<MeanDelta> completion;
};

struct ImportBaseline {
  std::string source;  ///< as named on the command line
  std::string started_at;
  std::vector<ImportDelta> deltas;         ///< scenarios that both have, lane by lane
  std::vector<std::string> missing;        ///< "cold-local-import on guest": not in the baseline
  std::vector<std::string> baseline_only;  ///< not in this run
  std::vector<Comparison> comparisons;     ///< of the kind baseline: what the samples allow to say

  /// The delta of the wall time that is furthest below zero, and furthest above.
  const ImportDelta* largest_improvement() const;
  const ImportDelta* largest_regression() const;
};

}  // namespace tare::report
