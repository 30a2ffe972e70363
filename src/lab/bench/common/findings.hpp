#pragma once

#include <vector>

#include "lab/bench/common/lane.hpp"
#include "lab/measure/noise.hpp"
#include "lab/report/document.hpp"

namespace tare::bench {

/// The whole run's correctness: every invariant that broke and every row that could not be measured to its
/// end, a line each.
report::Invariants broken_invariants(const report::Document& document);

/// What a reader of the figures of any bench should know of this run: a machine that was not quiet, known
/// defects of peers, samples that depend on each other.
std::vector<report::Finding> findings(const report::Document& document, const std::vector<Lane>& lanes,
                                      const measure::Noise& noise);

}  // namespace tare::bench
