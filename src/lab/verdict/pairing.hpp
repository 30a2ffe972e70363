#pragma once

#include <string_view>

#include "lab/measure/detectable.hpp"
#include "lab/report/document.hpp"
#include "lab/verdict/effect.hpp"

namespace tare::verdict {

/// How two lanes of one run are compared in a row. Rounds of the benches `agents` and `import` are no pairs:
/// lanes take turns worker by worker, and the samples of a worker come one after the other. So workers are
/// paired, once there are enough of them on both lanes; in the bench `gateway` it is the runs.
measure::Pairing pairing_of_lanes(const report::Row& a, const report::Row& b);

/// What of a row's two lanes is put side by side. In the bench `gateway` a run has as many samples as it took
/// time for, so that equal rounds need not be of equal runs.
PairedBy paired_by(const report::Row& row);

/// The option that measures a row in more processes: "--processes", or "--runs" of the bench `gateway`.
std::string_view repeat_flag(const report::Row& row);

}  // namespace tare::verdict
