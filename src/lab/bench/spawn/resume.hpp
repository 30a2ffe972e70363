#pragma once

#include <vector>

#include "base/clock.hpp"
#include "lab/bench/spawn/lane.hpp"
#include "lab/report/document.hpp"

namespace tare::spawn {

report::Tool this_tool();

/// Throws Error(input) unless the lanes are the very programs that the interrupted run measured.
void check_targets(const report::Document& before, const std::vector<Lane>& lanes);

/// How long after its start the interrupted run took its last sample.
Nanoseconds measured_so_far(const report::Document& before);

}  // namespace tare::spawn
