#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lab/report/document.hpp"

namespace tare::bench {

/// From here on the workers of two lanes are compared as pairs; fewer cannot carry an interval.
inline constexpr std::uint64_t fewest_paired_processes = 6;

/// Every subject against the reference lane, row by row, at p50 and p95: ratio and difference with 95 %
/// intervals. The worker is what is repeated: from six workers a lane on, they are paired as they took turns,
/// and each counts with its own quantile. Fewer cannot carry an interval; then all samples of each lane are
/// compared, unpaired, and the method says so: what is odd about one worker is in that ratio.
///
/// In the bench `gateway` the runs are the workers, and one run has no interval. Of a metric that took more
/// samples than it kept the quantiles are compared, without an interval.
///
/// Only `metrics`; all that are times when it is empty. Bootstrap intervals are seeded with `seed`.
std::vector<report::Comparison> worker_comparisons(const report::Document& document, std::uint64_t seed,
                                                   const std::set<std::string>& metrics = {});

/// What a reader of those comparisons should know when there are too few workers to pair; `what` is what a
/// worker runs: "registry".
std::optional<report::Finding> unpaired_note(const report::Document& document, std::uint64_t processes,
                                             std::string_view what);

}  // namespace tare::bench
