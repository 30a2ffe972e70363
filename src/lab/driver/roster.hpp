#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/clock.hpp"
#include "lab/process/tree.hpp"

namespace tare::driver {

/// The environment variable that says whose driver a process comes from.
inline constexpr const char* target_variable = "TARE_TARGET";

/// The child processes that are meant to live. A driver that dies leaves behind what it had started in
/// sessions of its own; this process becomes their parent, and whoever of its children is not on the roster
/// is one of them.
///
/// Shared by all drivers of a run, and by whatever else starts processes meanwhile (see `keep`). One thread
/// at a time.
class Roster {
 public:
  /// Makes this process a subreaper. Throws Error(failed) when the kernel refuses.
  Roster();

  /// Spares a process until `forget`.
  void keep(pid_t pid);
  void forget(pid_t pid);

  /// Kills and reaps every child that is not on the roster, with all below it.
  process::Strays sweep(Instant deadline);

  /// How many processes all sweeps since the last call had to kill that the driver of this label, or what it
  /// started, had left behind.
  std::size_t take_left_by(const std::string& label);

 private:
  std::vector<pid_t> living_;
  std::map<std::string, std::size_t> left_by_;
};

}  // namespace tare::driver
