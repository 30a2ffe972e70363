#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "lab/bench/common/lane.hpp"
#include "lab/report/document.hpp"

/// Whether an interrupted run can go on here. Each function throws Error(input) that names the first
/// difference; `source` names the document.
namespace tare::bench {

report::Tool this_tool();

/// It is a partial run of this bench, by this very program, on this machine.
void check_resumable(const report::Document& before, std::string_view bench, std::string_view source);

/// Its rows are those of the run, each once, and their samples are what a run leaves when it is cut short:
/// rounds from 0 on without a gap, the same in every metric, and no more than `rounds_of(row)`.
void check_rows(const report::Document& before, std::span<const std::string> rows, std::string_view source,
                const std::function<std::uint64_t(const std::string& row)>& rounds_of);

/// The lanes are the very programs that it measured.
void check_targets(const report::Document& before, const std::vector<Lane>& lanes);

/// How long after its start it took its last sample.
Nanoseconds measured_so_far(const report::Document& before);

}  // namespace tare::bench
