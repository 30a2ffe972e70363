#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "benchmark.hpp"
#include "lab/driver/driver.hpp"
#include "lab/driver/import_workspace.hpp"
#include "lab/driver/workload.hpp"
#include "registry_worker.hpp"

/// What the benchmarks of the import bench share: its rows, asked for as `tare import` does, sample by
/// sample.
namespace tare::benchmarks {

/// A row of the import bench in a driver of its own.
class ImportRow {
 public:
  /// Starts the driver of a built-in target. `workspace` must outlive this object. Throws Error(unavailable)
  /// when the target or a package that the row needs is not installed.
  ImportRow(const driver::ImportWorkspace& workspace, const std::string& target, const std::string& row);

  /// The same with a driver that is started like this.
  ImportRow(const driver::ImportWorkspace& workspace, const driver::DriverCommand& command,
            const std::string& row);

  /// One sample, with what follows from its times and its marker. A primed row finds its cache empty the
  /// first time, and has to use it from then on. Throws Broken when anything about it is wrong.
  driver::Sample sample();

  /// One figure of a sample, in ms, after `idle` in which nothing is asked of it. Throws Broken when there is
  /// none.
  double ms(std::string_view metric, Nanoseconds idle = {});

 private:
  driver::Workload workload_;
  json::Object params_;
  driver::Driver driver_;
  bool cache_is_empty_;
};

/// A row on a target.
struct ImportSide {
  const char* target;
  const char* row;
};

/// What is measured of both sides, and how often.
struct ImportPair {
  ImportSide ours;
  ImportSide theirs;
  const char* metric;
  Rounds rounds;
};

/// Long enough for what a lane does when it has told of an end: it fills its pool, or throws an isolate away.
/// Nobody else's sample should have that beside it.
inline constexpr Nanoseconds import_idle = std::chrono::milliseconds(10);

/// The p50 of our side against theirs, sample by sample in turns, each after a rest. A few that do not count
/// come before.
Measurement measure_pair(const ImportPair& pair);

/// The same of several lanes that are there already.
Measurement measure_lanes(const std::vector<Lane>& ours_and_theirs, const Rounds& rounds,
                          std::string_view what);

/// The one with the larger ratio; the other one, which is called so, stands in its note. Throws Broken when
/// one of them has no ratio.
Measurement worse_of(Measurement one, std::string_view name, Measurement other, std::string_view other_name);

}  // namespace tare::benchmarks
