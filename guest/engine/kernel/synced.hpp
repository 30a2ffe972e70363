#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tare::kernel {

/// How the files that a process wrote came back to the host.
struct Synced {
  std::uint64_t files = 0;  ///< that were put back
  /// What went wrong, a line each: "notes.md: no space left on device". Those files stay in the shadow.
  std::vector<std::string> problems;

  bool operator==(const Synced&) const = default;
};

}  // namespace tare::kernel
