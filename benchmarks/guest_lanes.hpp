#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "benchmark.hpp"
#include "lab/driver/driver.hpp"
#include "lab/driver/workload.hpp"
#include "runtime/guest/engine.hpp"

/// What the benchmarks of the guest engine share: lanes that are driven and judged as in a run, and guests of
/// an engine of their own.
namespace tare::benchmarks {

/// One row of the spawn bench in the driver of a target.
class SpawnLane {
 public:
  /// Starts the driver. Throws Error(unavailable) when the target is not installed.
  SpawnLane(const std::string& target, const std::string& row);

  /// One sample, after `idle` in which nothing is asked of it. Throws Broken when it is wrong.
  driver::Sample sample(Nanoseconds idle = {});
  /// The same, and only its total.
  double total_ms(Nanoseconds idle = {});

 private:
  driver::Driver driver_;
  driver::Workload workload_;
  std::uint64_t taken_ = 0;
};

/// The p50 of one lane against that of another, with the interval of resampled rounds. `what` says what was
/// done in a round, for the note.
Measurement p50_against(const std::vector<double>& ours, const std::vector<double>& theirs,
                        std::string_view what);

/// An engine of this process's own, with a machine in it.
class Guests {
 public:
  /// Throws Error(unavailable) when a part is missing.
  explicit Guests(guest::EngineOptions options = {}, const guest::VmOptions& machine = machine_options());

  /// All that a machine in this version may do.
  static guest::VmOptions machine_options();

  guest::Engine& engine() { return engine_; }
  guest::Vm& vm() { return vm_; }

  /// Starts `node -e script`.
  guest::Execution start(const std::string& script, guest::Stdio stdio = guest::Stdio::ignore);

  /// Waits until so many guests live and the pool is full; returns what the engine counts then. Throws Broken
  /// when that does not come true.
  std::map<std::string, std::int64_t> settle(std::int64_t living = 0);

  /// Proportional set size of the engine's process, in MB.
  double pss_mb();

 private:
  std::int64_t pool_;
  guest::Engine engine_;
  guest::Vm vm_;
};

/// Waits for it. Throws Broken unless it exits with code 0, in time.
void expect_success(guest::Execution& execution);

}  // namespace tare::benchmarks
