#pragma once

#include <vector>

#include "lab/bench/common/lane.hpp"
#include "lab/bench/spawn/options.hpp"
#include "lab/report/document.hpp"

namespace tare::spawn {

/// What a reader of the figures should know of a run of this bench, beside what holds for all.
std::vector<report::Finding> findings(const report::Document& document, const std::vector<bench::Lane>& lanes,
                                      const Options& options);

}  // namespace tare::spawn
