#include "lab/gateway/cpu.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string>

#include <unistd.h>

#include "lab/process/proc.hpp"

namespace tare::lab_gateway {
namespace {

namespace proc = process::proc;

Nanoseconds of_ticks(std::uint64_t count) {
  static const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return Nanoseconds(count * 1'000'000'000 / per_second);
}

/// What the process itself used, by its CPU clock.
std::optional<Nanoseconds> clock_of(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

/// A total, divided as the ticks say.
CpuTime divide(Nanoseconds total, const proc::Stat& stat) {
  const Nanoseconds system = std::min(of_ticks(stat.stime), total);
  return {total - system, system};
}

}  // namespace

std::optional<CpuTime> tree_cpu_of(pid_t pid) {
  const std::vector<proc::Stat> tree = proc::tree_of(proc::read_all("/proc"), pid);
  if (tree.empty()) return std::nullopt;
  CpuTime sum;
  for (const proc::Stat& stat : tree) {
    const CpuTime own = divide(clock_of(stat.pid).value_or(of_ticks(stat.utime + stat.stime)), stat);
    sum.user += own.user + of_ticks(stat.cutime);
    sum.system += own.system + of_ticks(stat.cstime);
  }
  return sum;
}

std::optional<CpuTime> main_thread_cpu_of(pid_t pid) {
  const std::string number = std::to_string(pid);
  const std::string folder = "/proc/" + number + "/task/";
  const std::optional<proc::Stat> stat = proc::read_stat(folder, pid);
  const std::string schedule = proc::read_file(folder + number + "/schedstat").text;
  std::uint64_t running = 0;
  const auto [end, failure] = std::from_chars(schedule.data(), schedule.data() + schedule.size(), running);
  if (!stat || failure != std::errc{}) return std::nullopt;
  return divide(Nanoseconds(running), *stat);
}

}  // namespace tare::lab_gateway
