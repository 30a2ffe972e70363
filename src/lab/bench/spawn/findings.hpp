#pragma once

#include <vector>

#include "lab/bench/spawn/lane.hpp"
#include "lab/measure/noise.hpp"
#include "lab/report/document.hpp"

namespace tare::spawn {

/// The whole run's correctness: every invariant that broke and every row that could not be measured to its
/// end, a line each.
report::Invariants broken_invariants(const report::Document& document);

/// What a reader of the figures should know of this run.
std::vector<report::Finding> findings(const report::Document& document, const std::vector<Lane>& lanes,
                                      const measure::Noise& noise);

}  // namespace tare::spawn
