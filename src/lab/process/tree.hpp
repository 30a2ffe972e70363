#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/clock.hpp"

namespace tare::process {

/// What read_tree looks at, besides the process and thread counts. Costs rise from left to right.
enum class TreeFields : unsigned {
  none = 0,
  cpu = 1,
  rss = 2,
  peak = 4,  ///< VmHWM
  fds = 8,
  pss = 16,  ///< smaps_rollup: makes the kernel walk the page tables
  all = 31,
};
constexpr TreeFields operator|(TreeFields a, TreeFields b) {
  return static_cast<TreeFields>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool has(TreeFields fields, TreeFields field) {
  return (static_cast<unsigned>(fields) & static_cast<unsigned>(field)) != 0;
}

/// A process and all its descendants at one moment. A figure is absent when it was not asked for or could
/// not be read of a process that is still there.
struct TreeUsage {
  std::uint64_t processes = 0;  ///< alive: a zombie is not
  std::uint64_t zombies = 0;
  std::uint64_t threads = 0;
  /// utime, stime, cutime and cstime: living processes, zombies, and children that were waited for.
  /// In steps of a clock tick (10 ms).
  std::optional<std::chrono::microseconds> cpu_user;
  std::optional<std::chrono::microseconds> cpu_system;
  std::optional<std::uint64_t> rss_bytes;       ///< sum; shared pages count once a process
  std::optional<std::uint64_t> peak_rss_bytes;  ///< sum of VmHWM
  std::optional<std::uint64_t>
      largest_child_peak_bytes;            ///< largest VmHWM below the root; absent without one
  std::optional<std::uint64_t> pss_bytes;  ///< sum of Pss: shared pages are divided
  std::optional<std::uint64_t> fds;
};

/// Walks /proc. Nothing when `root` does not exist. A process that vanishes during the walk is skipped.
/// `proc` is for tests.
std::optional<TreeUsage> read_tree(pid_t root, TreeFields fields, const std::string& proc = "/proc");

/// Whether the process exists and is not a zombie.
bool is_alive(pid_t pid, const std::string& proc = "/proc");

/// SIGKILLs a process and every descendant, in whatever group or session: they are stopped first, until no
/// new one is found, so that none can fork away. Returns how many were signalled. Reaps nothing.
/// What was orphaned before (its parent had exited) is not below `root` any more: see become_subreaper.
std::size_t kill_tree(pid_t root);

/// SIGKILLs what a process that has ended, and was not reaped yet, left running: what is in its group, and
/// what was started with the environment variable `mark` at this value, in whatever group or session. Waits
/// until they are gone, or the deadline, and reaps those that are this process's children. Returns how many.
std::size_t kill_left_behind(pid_t leader, std::string_view mark, std::string_view value, Instant deadline);

/// Makes this process the parent of all its orphaned descendants, from now on, so that reap_strays finds
/// them. Throws Error(failed) when the kernel refuses.
void become_subreaper();

struct Strays {
  std::size_t killed = 0;  ///< were still running
  std::size_t reaped = 0;  ///< all that are gone now
  /// The killed, counted by the value of the variable `mark` in the environment that each was started with.
  std::map<std::string, std::size_t> killed_by_mark;
};

/// Kills and reaps every child of this process that is not in `keep` (the pids of living Child objects),
/// with its whole tree, again and again as the dead hand over their own children, until none is left or the
/// deadline passes. What descends from a process that was started with the environment variable `mark` can be
/// told by its value.
Strays reap_strays(std::span<const pid_t> keep, Instant deadline, std::string_view mark = "");

}  // namespace tare::process
