#include "lab/process/tree.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <dirent.h>
#include <map>
#include <set>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "lab/process/pidfd.hpp"
#include "lab/process/poll.hpp"
#include "lab/process/proc.hpp"

namespace tare::process {
namespace {

using proc::Stat;

bool vanished(int error) {
  return error == ENOENT || error == ESRCH;
}

/// A sum that is absent once one part of it could not be read.
class Sum {
 public:
  void add(std::uint64_t value) { total_ += value; }
  void spoil() { spoilt_ = true; }
  std::optional<std::uint64_t> value() const { return spoilt_ ? std::nullopt : std::optional(total_); }

 private:
  std::uint64_t total_ = 0;
  bool spoilt_ = false;
};

/// Adds a figure of a status-like file. Returns it. One that vanished is skipped.
std::optional<std::uint64_t> add_kilobytes(Sum& sum, const std::string& file, std::string_view name) {
  const proc::Text text = proc::read_file(file);
  if (text.error != 0) {
    if (!vanished(text.error)) sum.spoil();
    return std::nullopt;
  }
  // A process that became a zombie since the snapshot has no such line.
  const std::optional<std::uint64_t> value = proc::kilobytes(text.text, name);
  if (value) sum.add(*value);
  return value;
}

void add_descriptors(Sum& sum, const std::string& folder) {
  DIR* entries = ::opendir(folder.c_str());
  if (entries == nullptr) {
    if (!vanished(errno)) sum.spoil();
    return;
  }
  std::uint64_t count = 0;
  while (const dirent* entry = ::readdir(entries)) count += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(entries);
  sum.add(count);
}

std::chrono::microseconds ticks(std::uint64_t count) {
  static const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return std::chrono::microseconds(count * 1'000'000 / per_second);
}

void read_sizes(TreeUsage& usage, std::span<const Stat> tree, TreeFields fields, const std::string& proc) {
  Sum rss;
  Sum peak;
  Sum fds;
  Sum pss;
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (const Stat& stat : tree) {
    if (stat.is_zombie()) continue;
    const std::string folder = proc + "/" + std::to_string(stat.pid);
    rss.add(stat.rss_pages * page);
    if (has(fields, TreeFields::peak)) {
      const auto own = add_kilobytes(peak, folder + "/status", "VmHWM");
      if (own && stat.pid != tree.front().pid) {
        usage.largest_child_peak_bytes = std::max(usage.largest_child_peak_bytes.value_or(0), *own);
      }
    }
    if (has(fields, TreeFields::fds)) add_descriptors(fds, folder + "/fd");
    if (has(fields, TreeFields::pss)) add_kilobytes(pss, folder + "/smaps_rollup", "Pss");
  }
  if (has(fields, TreeFields::rss)) usage.rss_bytes = rss.value();
  if (has(fields, TreeFields::peak)) usage.peak_rss_bytes = peak.value();
  if (has(fields, TreeFields::fds)) usage.fds = fds.value();
  if (has(fields, TreeFields::pss)) usage.pss_bytes = pss.value();
}

/// A handle on the very process of a snapshot: not on a later one that got the same number.
Fd open_same(const Stat& stat) {
  Fd pidfd = open_pidfd(stat.pid);
  if (!pidfd) return {};
  const std::optional<Stat> current = proc::read_stat("/proc", stat.pid);
  if (!current || current->start_time != stat.start_time) return {};
  return pidfd;
}

/// Reaps a child by number. True when it is gone.
bool reap(pid_t pid, int flags) {
  pid_t got = 0;
  do {
    got = ::waitpid(pid, nullptr, flags);
  } while (got < 0 && errno == EINTR);
  return got == pid;
}

}  // namespace

std::optional<TreeUsage> read_tree(pid_t root, TreeFields fields, const std::string& proc) {
  const std::vector<Stat> tree = proc::tree_of(proc::read_all(proc), root);
  if (tree.empty()) return std::nullopt;
  TreeUsage usage;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  for (const Stat& stat : tree) {
    user += stat.utime + stat.cutime;
    system += stat.stime + stat.cstime;
    if (stat.is_zombie()) {
      ++usage.zombies;
    } else {
      ++usage.processes;
      usage.threads += stat.threads;
    }
  }
  if (has(fields, TreeFields::cpu)) {
    usage.cpu_user = ticks(user);
    usage.cpu_system = ticks(system);
  }
  read_sizes(usage, tree, fields, proc);
  return usage;
}

bool is_alive(pid_t pid, const std::string& proc) {
  const std::optional<Stat> stat = proc::read_stat(proc, pid);
  return stat && !stat->is_zombie();
}

std::size_t kill_tree(pid_t root) {
  // Each round stops what the one before could still fork; a stopped tree brings nothing new.
  constexpr int max_rounds = 64;
  std::map<pid_t, Fd> stopped;
  for (int round = 0; round < max_rounds; ++round) {
    std::size_t fresh = 0;
    for (const Stat& stat : proc::tree_of(proc::read_all("/proc"), root)) {
      if (stopped.contains(stat.pid) || stat.is_zombie()) continue;
      Fd pidfd = open_same(stat);
      if (!pidfd || !signal_pidfd(pidfd, SIGSTOP)) continue;
      stopped.emplace(stat.pid, std::move(pidfd));
      ++fresh;
    }
    if (fresh == 0) break;
  }
  for (const auto& [pid, pidfd] : stopped) signal_pidfd(pidfd, SIGKILL);
  return stopped.size();
}

namespace {

/// The value of a variable in the environment that a process was started with, or "".
std::string started_with(pid_t pid, std::string_view name) {
  const std::string environment = proc::read_file("/proc/" + std::to_string(pid) + "/environ").text;
  for (std::string_view rest = environment; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return std::string(entry.substr(name.size() + 1));
    }
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
  }
  return {};
}

}  // namespace

std::size_t kill_left_behind(pid_t leader, std::string_view mark, std::string_view value, Instant deadline) {
  constexpr int max_rounds = 64;
  std::map<pid_t, Fd> killed;
  for (int round = 0; round < max_rounds; ++round) {
    std::size_t fresh = 0;
    for (const Stat& stat : proc::read_all("/proc")) {
      if (stat.pid == leader || stat.is_zombie() || killed.contains(stat.pid)) continue;
      if (stat.group != leader && started_with(stat.pid, mark) != value) continue;
      Fd pidfd = open_same(stat);
      if (!pidfd || !signal_pidfd(pidfd, SIGKILL)) continue;
      killed.emplace(stat.pid, std::move(pidfd));
      ++fresh;
    }
    if (fresh == 0) break;
  }
  for (const auto& [pid, pidfd] : killed) {
    pollfd entry{pidfd.get(), POLLIN, 0};
    if (poll_until({&entry, 1}, deadline) > 0) reap(pid, WNOHANG);
  }
  return killed.size();
}

void become_subreaper() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
    throw Error(ErrorCode::failed, "cannot adopt orphaned processes", errno_text(errno));
  }
}

Strays reap_strays(std::span<const pid_t> keep, Instant deadline, std::string_view mark) {
  Strays strays;
  std::set<pid_t> signalled;
  const pid_t self = ::getpid();
  for (;;) {
    std::size_t found = 0;
    const std::vector<Stat> all = proc::read_all("/proc");
    for (const Stat& stat : all) {
      if (stat.ppid != self || std::find(keep.begin(), keep.end(), stat.pid) != keep.end()) continue;
      ++found;
      if (!stat.is_zombie()) {
        const std::string value = mark.empty() ? "" : started_with(stat.pid, mark);
        kill_tree(stat.pid);
        // What is on its way out already becomes our child when its parent is gone, and is seen again.
        for (const Stat& doomed : proc::tree_of(all, stat.pid)) {
          if (doomed.is_zombie() || !signalled.insert(doomed.pid).second) continue;
          ++strays.killed;
          ++strays.killed_by_mark[value];
        }
      }
      // A child stays ours until we reap it, so its number cannot be another's.
      const Fd pidfd = open_pidfd(stat.pid);
      pollfd entry{pidfd.get(), POLLIN, 0};
      if (pidfd && poll_until({&entry, 1}, deadline) == 0) return strays;
      strays.reaped += reap(stat.pid, WNOHANG) ? 1 : 0;
    }
    if (found == 0 || std::chrono::steady_clock::now() >= deadline) return strays;
  }
}

}  // namespace tare::process
