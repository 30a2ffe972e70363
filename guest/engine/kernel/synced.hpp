#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tare::kernel {

/// How the files that a process wrote came back to the host.
struct Synced {
  std::uint64_t files = 0;  ///< that were put back
  std::uint64_t lost = 0;   ///< that were not: they stay in the shadow as long as the machine lives
  /// What went wrong, a line each, for a person; also of a file that is now beside another's.
  std::vector<std::string> problems;

  bool operator==(const Synced&) const = default;
};

}  // namespace tare::kernel
