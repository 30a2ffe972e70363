#include "spawner/operation.hpp"

#include <algorithm>
#include <array>
#include <dirent.h>
#include <span>
#include <vector>

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lab/process/poll.hpp"
#include "lab/process/proc.hpp"
#include "lab/process/run.hpp"

namespace tare::spawner {
namespace {

using process::Child;
using process::Command;
using process::Exit;
using process::SpawnError;
using std::chrono::steady_clock;

/// What a killed process gets to go away.
constexpr auto kill_limit = std::chrono::seconds(10);
/// Keeps an answer under 16 MiB a line, even when every byte has to be escaped.
constexpr std::size_t output_limit = std::size_t{3} << 20;
/// The lab's end of our stdin: with no events asked for, poll reports only that it went away.
constexpr process::Interrupt lab_gone{STDIN_FILENO, 0};

std::int64_t microseconds(const timeval& time) {
  return time.tv_sec * std::int64_t{1'000'000} + time.tv_usec;
}

/// The CPU of an operation: of the processes, and of this one while it started and reaped them.
class Meter {
 public:
  Meter() { ::getrusage(RUSAGE_SELF, &before_); }

  void add(const Exit& exit) {
    children_.cpu_user_us += exit.usage.user.count();
    children_.cpu_system_us += exit.usage.system.count();
    children_.max_rss_bytes = std::max(children_.max_rss_bytes, exit.usage.max_rss_bytes);
  }

  Resources total() const {
    rusage after{};
    ::getrusage(RUSAGE_SELF, &after);
    Resources sum = children_;
    sum.cpu_user_us += microseconds(after.ru_utime) - microseconds(before_.ru_utime);
    sum.cpu_system_us += microseconds(after.ru_stime) - microseconds(before_.ru_stime);
    return sum;
  }

 private:
  rusage before_{};
  Resources children_;
};

/// Whether the process exited. False at the deadline.
bool wait_for(const Child& child, Instant deadline) {
  std::array<pollfd, 2> fds{{{child.pidfd(), POLLIN, 0}, lab_gone.entry()}};
  if (process::poll_until(fds, deadline) == 0) return false;
  if (fds[0].revents != 0) return true;
  throw LabVanished{};
}

void kill_all(std::span<Child> children) {
  for (const Child& child : children) child.kill_group();
  for (Child& child : children) child.wait(steady_clock::now() + kill_limit);
}

void count_exit(Sample& sample, const Exit& exit) {
  if (exit.code) sample.counters["exitCode"] = *exit.code;
  if (exit.signal) sample.counters["signal"] = *exit.signal;
}

Sample not_started(const SpawnError& error) {
  Sample sample;
  sample.outcome = error.refused() ? "refused" : "failed";
  sample.error = std::string(error.what()) + ": " + error.why();
  return sample;
}

void set_timeout(Sample& sample, Nanoseconds timeout) {
  sample.outcome = "timeout";
  sample.error = "not done after " +
                 std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count()) +
                 " ms";
}

struct Phases {
  const char* spawn;
  const char* wait_reap;
};

/// The operation that all rows without pipes are. The children end with it, whatever happens.
struct Batch {
  std::vector<Child> children;
  Instant start;
  Instant spawned;
  Instant end;
  bool timed_out = false;

  Batch(const Command& command, unsigned count, Nanoseconds timeout) {
    children.reserve(count);
    start = steady_clock::now();
    const Instant deadline = start + timeout;
    for (unsigned i = 0; i < count; ++i) children.push_back(command.start());
    spawned = steady_clock::now();
    for (Child& child : children) {
      if (!wait_for(child, deadline)) {
        timed_out = true;
        break;
      }
      child.wait(Instant::max());
    }
    end = steady_clock::now();
    if (timed_out) kill_all(children);
  }
};

Sample report(const Batch& batch, const Meter& meter, Nanoseconds timeout, const Phases& phases) {
  Sample sample;
  sample.resources = meter.total();
  sample.ns["total"] = (batch.end - batch.start).count();
  if (batch.timed_out) {
    set_timeout(sample, timeout);
  } else {
    sample.ns[phases.spawn] = (batch.spawned - batch.start).count();
    sample.ns[phases.wait_reap] = (batch.end - batch.spawned).count();
  }
  return sample;
}

/// What the kernel holds of this process.
struct OwnFacts {
  std::int64_t fds = 0;
  std::int64_t threads = 0;
  std::int64_t zombies = 0;
};

OwnFacts own_facts() {
  OwnFacts facts;
  if (DIR* folder = ::opendir("/proc/self/fd")) {
    while (const dirent* entry = ::readdir(folder)) facts.fds += entry->d_name[0] != '.' ? 1 : 0;
    ::closedir(folder);
    --facts.fds;  // the one that read the folder
  }
  const pid_t self = ::getpid();
  for (const process::proc::Stat& stat : process::proc::read_all("/proc")) {
    if (stat.pid == self) facts.threads = static_cast<std::int64_t>(stat.threads);
    if (stat.ppid == self && stat.is_zombie()) ++facts.zombies;
  }
  return facts;
}

}  // namespace

Sample run_one(const process::SpawnOptions& options, Nanoseconds timeout) try {
  const Command command(options);
  Meter meter;
  const Batch batch(command, 1, timeout);
  const Exit exit = batch.children.front().exit().value_or(Exit{});
  meter.add(exit);
  Sample sample = report(batch, meter, timeout, {"spawn", "wait_reap"});
  if (!batch.timed_out) count_exit(sample, exit);
  return sample;
} catch (const SpawnError& error) {
  return not_started(error);
}

Sample run_batch(const process::SpawnOptions& options, unsigned count, Nanoseconds timeout) try {
  const Command command(options);
  Meter meter;
  const Batch batch(command, count, timeout);
  std::int64_t exits = 0;
  std::int64_t non_zero = 0;
  for (const Child& child : batch.children) {
    if (!child.exit()) continue;
    meter.add(*child.exit());
    // A lost status is no exit that was seen.
    if (child.exit()->code || child.exit()->signal) ++exits;
    if (!child.exit()->ok()) ++non_zero;
  }
  Sample sample = report(batch, meter, timeout, {"spawn_batch", "wait_reap_batch"});
  sample.counters["exits"] = exits;
  sample.counters["nonZero"] = non_zero;
  return sample;
} catch (const SpawnError& error) {
  return not_started(error);
}

Sample run_storm(const process::SpawnOptions& options, unsigned count, Nanoseconds timeout) {
  const OwnFacts before = own_facts();
  Sample sample = run_batch(options, count, timeout);
  const OwnFacts after = own_facts();
  sample.ns.erase("spawn_batch");
  sample.ns.erase("wait_reap_batch");
  sample.counters["zombies"] = after.zombies;
  sample.counters["fdsBefore"] = before.fds;
  sample.counters["fdsAfter"] = after.fds;
  sample.counters["threadsBefore"] = before.threads;
  sample.counters["threadsAfter"] = after.threads;
  return sample;
}

Sample run_piped(const process::SpawnOptions& command, std::string_view input, Nanoseconds timeout) try {
  Meter meter;
  process::RunOptions options;
  options.deadline = steady_clock::now() + timeout;
  options.output_limit = output_limit;
  options.err = process::Stderr::discard;
  options.interrupt = lab_gone;
  process::RunResult result = process::run(command, input, options);
  if (result.interrupted) throw LabVanished{};
  meter.add(result.exit);
  Sample sample;
  sample.resources = meter.total();
  sample.ns["total"] = result.elapsed.count();
  if (result.timed_out) {
    set_timeout(sample, timeout);
  } else {
    count_exit(sample, result.exit);
  }
  sample.output = std::move(result.out);
  return sample;
} catch (const SpawnError& error) {
  return not_started(error);
}

std::optional<std::uint64_t> own_peak_rss_bytes() {
  return process::proc::kilobytes(process::proc::read_file("/proc/self/status").text, "VmHWM");
}

}  // namespace tare::spawner
