#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "protocol/messages.hpp"

namespace tare::guest {

namespace reason {
/// Of this side: the engine process ended while the guest lived in it.
inline constexpr std::string_view lost = "lost";
}  // namespace reason

/// How a guest ended. It has a code, or a signal, or neither: then `reason` is "refused" or "lost".
struct Exit {
  std::optional<int> code;
  std::optional<int> signal;          ///< its number
  std::optional<std::string> reason;  ///< a name of `reason`, when it was not the guest's own will
  std::optional<std::string> detail;  ///< more about that, for a person
  std::optional<std::uint64_t>
      files_synced;              ///< written back to the host; nothing when there was nothing to do
  std::uint64_t files_lost = 0;  ///< that could not be written back, of its children's, too
  /// What went wrong with all those, a line each.
  std::vector<std::string> sync_problems;
  std::optional<Nanoseconds> cpu;          ///< processor time; nothing of what never ran
  std::optional<CodeCacheUse> code_cache;  ///< of its own code; nothing of what never ran
  bool pooled = false;                     ///< its isolate was there before it

  bool is(std::string_view name) const { return reason == name; }
  /// As a shell reports it: the code, or 128 and the signal's number; 126 for a guest that never started and
  /// 125 for one that was lost.
  int shell_code() const;
};

/// "exited with code 1", "killed by SIGKILL (memory)", "refused (too many processes)".
std::string describe(const Exit& exit);

Exit exit_of(const Exited& message);

}  // namespace tare::guest
