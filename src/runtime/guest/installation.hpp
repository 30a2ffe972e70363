#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tare::guest {

/// The Node.js that hosts the engine. Its library's inner calls change between versions, so it is this one.
inline constexpr std::string_view node_version = "24.22.3";

/// Where the parts of the engine are.
struct Installation {
  std::filesystem::path node;  ///< the program
  std::filesystem::path lib;   ///< lib/tare/guest: engine.js, the addon, compat/
  std::filesystem::path
      launcher;                 ///< tare-guest-launcher; empty: node is started as it is, without isolation
  std::filesystem::path cache;  ///< folder of what is made at the first start
  std::vector<std::string> node_flags =  ///< what the addon cannot set any more
      {"--no-turboshaft-loop-unrolling", "--no-warnings"};

  std::filesystem::path engine() const { return lib / "engine.js"; }
};

/// The installation that this program is part of. It may be incomplete: see check.
Installation find_installation();

/// Throws Error(unavailable) that says which part is missing and what brings it.
void check(const Installation& installation);

/// What the engine and its tools see of this process's environment: how to tell the time and to write
/// numbers, and whose they are. Nothing that would change how Node starts.
std::vector<std::string> engine_environment();

}  // namespace tare::guest
