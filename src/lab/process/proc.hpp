#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

/// Reading /proc: what the process tree is made of. Paths are plain strings: std::filesystem would make up a
/// large part of the small static spawner.
namespace tare::process::proc {

/// One line of /proc/<pid>/stat.
struct Stat {
  pid_t pid = 0;
  pid_t ppid = 0;
  pid_t group = 0;
  char state = '?';
  std::uint64_t utime = 0;  ///< clock ticks, as the next three
  std::uint64_t stime = 0;
  std::uint64_t cutime = 0;
  std::uint64_t cstime = 0;
  std::uint64_t threads = 0;
  std::uint64_t start_time = 0;  ///< clock ticks after boot; with the pid, it names one process for ever
  std::uint64_t rss_pages = 0;

  bool is_zombie() const { return state == 'Z' || state == 'X'; }
};

/// A small file, or nothing and the errno of the failure in `error`.
struct Text {
  std::string text;
  int error = 0;
};
Text read_file(const std::string& path);

/// Parses a stat line; the command's name may hold spaces and brackets.
std::optional<Stat> parse_stat(std::string_view line);
std::optional<Stat> read_stat(const std::string& proc, pid_t pid);

/// Every process that can be read.
std::vector<Stat> read_all(const std::string& proc);

/// `root` and its descendants out of a snapshot, root first; empty when root is not in it.
std::vector<Stat> tree_of(const std::vector<Stat>& all, pid_t root);

/// The number of kilobytes behind `name:` in a status-like text, in bytes.
std::optional<std::uint64_t> kilobytes(std::string_view text, std::string_view name);

}  // namespace tare::process::proc
