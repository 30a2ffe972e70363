#pragma once

#include <cstdint>
#include <vector>

#include "lab/report/document.hpp"

namespace tare::spawn {

/// What each runtime adds, row by row: `emulation` against the reference lane and `total` against the
/// native lane, paired by round; `floor` against the cheapest process there is (`spawn_exit` on `sh`), which
/// is another row and so unpaired. At p50 and p95, ratio and difference, each with a 95 % interval.
///
/// p50: median of the rounds' log-ratios with its sign-test interval. p95: ratio of the two p95 with a
/// bootstrap interval over rounds, seeded with `seed`.
std::vector<report::Comparison> taxes(const report::Document& document, std::uint64_t seed);

}  // namespace tare::spawn
