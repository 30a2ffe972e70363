#pragma once

#include "lab/measure/detectable.hpp"
#include "lab/report/document.hpp"

namespace tare::verdict {

/// How two lanes of one run are compared in a row. Rounds of the bench `agents` are no pairs: lanes take
/// turns worker by worker, and the samples of a worker come one after the other. So its workers are paired,
/// once there are enough of them on both lanes.
measure::Pairing pairing_of_lanes(const report::Row& a, const report::Row& b);

}  // namespace tare::verdict
