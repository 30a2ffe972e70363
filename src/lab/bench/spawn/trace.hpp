#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/bench/common/lane.hpp"
#include "lab/bench/spawn/options.hpp"
#include "lab/driver/driver.hpp"
#include "lab/driver/workload.hpp"
#include "lab/report/document.hpp"

/// The arm of `--trace`: the operations of some rows once more, in a driver of their own whose runtime counts
/// its stages. Never in the timed arm: counting takes time.
namespace tare::spawn {

/// Tells a driver that it is traced. Only then may its hello say `stages`.
inline constexpr const char* trace_variable = "TARE_TRACE";

/// Whether a row is traced: node_exit_1, fanout_8, nested_8, and the rows that write to the host or could.
bool is_traced(const driver::Workload& workload);

/// Operations of the arm: those of the row, at most 20, and its warm-ups, at most 2.
Rounds trace_rounds(const Options& options);

/// What happened between two looks at a runtime's counts, without the stages that had no calls.
std::map<std::string, report::Stage> stages_between(const driver::Stages& before,
                                                    const driver::Stages& after);

/// Whether every stage was passed as often as processes went through it: `operations` of the row, warm-ups
/// included.
std::vector<report::Invariant> coverage(const driver::Workload& workload, const driver::Stages& before,
                                        const driver::Stages& after, std::uint64_t operations);

/// What the lives of processes say together; `absent` names the sub-phases that have no figure. Nothing of
/// none. The gap of the wait that nothing accounts for is worked out here: its total, less what it was
/// blocked on the start, slept between polls and spent on refreshing.
std::optional<report::Lifecycle> lifecycle_of(const std::vector<driver::Lifecycle>& lives,
                                              const std::map<std::string, std::string>& absent);

/// Runs the arm and writes `row.trace` and its invariants, but for known defects. Leaves the row as it is
/// when the lane has no stages. Throws DriverFailure.
void trace(const bench::Lane& lane, const driver::Workload& workload, const Options& options,
           const driver::DriverOptions& driver_options, report::Row& row);

}  // namespace tare::spawn
