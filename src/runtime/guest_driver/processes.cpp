#include "runtime/guest_driver/processes.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"

namespace tare::guest_driver {
namespace {

namespace fs = std::filesystem;

std::int64_t entries(const std::string& folder) {
  std::error_code error;
  std::int64_t count = 0;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) ++count;
  return count;
}

struct Stat {
  char state = '?';
  int parent = 0;
};

std::optional<Stat> stat_of(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= line.size()) return std::nullopt;
  const auto words = text::split(std::string_view(line).substr(name_end + 2), ' ');
  return Stat{words[0][0], static_cast<int>(text::to_int(words[1]).value_or(0))};
}

}  // namespace

Facts facts_of(const std::vector<int>& others) {
  std::vector<int> pids = others;
  pids.push_back(::getpid());
  Facts facts;
  for (const int pid : pids) {
    facts.fds += entries(fmt::format("/proc/{}/fd", pid));
    facts.threads += entries(fmt::format("/proc/{}/task", pid));
  }
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const auto pid = text::to_int(at->path().filename().string());
    const auto stat = pid ? stat_of(static_cast<int>(*pid)) : std::nullopt;
    if (stat && stat->state == 'Z' && std::find(pids.begin(), pids.end(), stat->parent) != pids.end())
      ++facts.zombies;
  }
  return facts;
}

std::optional<std::uint64_t> pss_of(const std::vector<int>& pids) {
  std::uint64_t sum = 0;
  for (const int pid : pids) {
    std::ifstream file(fmt::format("/proc/{}/smaps_rollup", pid));
    std::optional<std::int64_t> kilobytes;
    for (std::string line; !kilobytes && std::getline(file, line);) {
      if (!line.starts_with("Pss:")) continue;
      const std::string_view number = text::trim(std::string_view(line).substr(4));
      kilobytes = text::to_int(number.substr(0, number.find(' ')));
    }
    if (!kilobytes) return std::nullopt;
    sum += static_cast<std::uint64_t>(*kilobytes) * 1024;
  }
  return sum;
}

std::optional<std::string> why_no_memory(const std::vector<int>& pids) {
  if (pss_of(pids)) return std::nullopt;
  return "the kernel does not tell a process's share of memory (/proc/PID/smaps_rollup)";
}

std::int64_t running(const std::vector<int>& pids) {
  return std::count_if(pids.begin(), pids.end(), [](int pid) {
    const auto stat = stat_of(pid);
    return stat && stat->state != 'Z';
  });
}

}  // namespace tare::guest_driver
