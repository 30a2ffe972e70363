#include "engine/isolate/watchdog.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <pthread.h>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "engine/isolate/containment.hpp"
#include "engine/isolate/isolate.hpp"
#include "engine/kernel/vm.hpp"
#include "protocol/messages.hpp"

namespace tare::engine {
namespace {

constexpr Nanoseconds never = std::chrono::hours(24);
/// Between two looks at a guest that was killed and at the memory of the process.
constexpr Nanoseconds soon = std::chrono::milliseconds(50);
constexpr Nanoseconds memory_period = std::chrono::milliseconds(100);
/// What a guest may take to give back its memory, and how long the process may hold too much.
constexpr Nanoseconds giving_back = std::chrono::milliseconds(500);
constexpr Nanoseconds over_for = std::chrono::seconds(3);
/// What a guest that was killed may take for the step of V8 that it is in: a collection of its whole heap, or
/// a large copy, ends by itself.
constexpr Nanoseconds patience = std::chrono::seconds(5);

Nanoseconds cpu_time(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

/// How often the thread touched a page that it did not have: nobody else counts what one of many takes.
std::uint64_t page_faults(pid_t thread) {
  std::FILE* file = std::fopen(fmt::format("/proc/self/task/{}/stat", thread).c_str(), "re");
  if (file == nullptr) return 0;
  unsigned long faults = 0;
  // pid (name) state parent group session terminal its-group flags, then the faults.
  const int read = std::fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %lu", &faults);
  std::fclose(file);
  return read == 1 ? faults : 0;
}

std::uint64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long total = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  return read == 2 ? std::uint64_t{resident} * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

Watchdog::Watchdog(std::optional<std::uint64_t> memory_limit)
    : memory_limit_(memory_limit), thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

Watchdog::Guard Watchdog::watch(const std::shared_ptr<kernel::Process>& process, v8::Isolate* isolate) {
  const kernel::Limits& limits = process->vm()->limits();
  const auto run_time = process->run_time();
  const Instant now = std::chrono::steady_clock::now();
  Entry entry{process, isolate, 0, ::gettid(), std::nullopt, {}, std::nullopt, 0, now + never};
  if (::pthread_getcpuclockid(::pthread_self(), &entry.cpu_clock) != 0)
    entry.cpu_clock = CLOCK_PROCESS_CPUTIME_ID;
  if (run_time) entry.wall_end = process->started() + *run_time;
  // What the thread used before is the making of the isolate, which is not the guest's.
  if (limits.cpu_time) entry.cpu_limit = cpu_time(entry.cpu_clock) + *limits.cpu_time;
  const bool limited = run_time || limits.cpu_time;
  if (limited) entry.look_again = now;
  const std::lock_guard lock(mutex_);
  entries_.push_front(std::move(entry));
  if (limited || (dozes_ && memory_limit_)) changed_.notify_all();
  return {this, entries_.begin()};
}

Watchdog::Guard::~Guard() {
  const std::lock_guard lock(watchdog_->mutex_);
  watchdog_->entries_.erase(entry_);
}

void Watchdog::Guard::killed() {
  const std::lock_guard lock(watchdog_->mutex_);
  entry_->look_again = std::chrono::steady_clock::now() + soon;
  watchdog_->changed_.notify_all();
}

/// Why the process is to be killed now; an empty reason: it was, and is to be abandoned.
std::optional<std::string_view> Watchdog::look_at(Entry& entry, Instant now) {
  if (entry.process->kill_requested()) {
    entry.killed = entry.killed.value_or(now);
    if (entry.isolate == nullptr || entry.process->exit()) {
      entry.look_again = now + never;
      return std::nullopt;
    }
    entry.isolate->TerminateExecution();
    entry.look_again = now + soon;
    if (now - *entry.killed < patience) return std::nullopt;
    return std::string_view();
  }
  entry.look_again = now + never;
  if (entry.wall_end) {
    if (now >= *entry.wall_end) return guest::reason::wall_time;
    entry.look_again = *entry.wall_end;
  }
  if (entry.cpu_limit == Nanoseconds::zero()) return std::nullopt;
  const Nanoseconds left = entry.cpu_limit - cpu_time(entry.cpu_clock) - entry.process->background_time();
  if (left <= Nanoseconds::zero()) return guest::reason::cpu_time;
  // Not at once again for a remainder that the clock can't tell from nothing.
  constexpr Nanoseconds least = std::chrono::milliseconds(1);
  entry.look_again = std::min(entry.look_again, now + std::max(left, least));
  return std::nullopt;
}

void Watchdog::carry_out(const Sentence& sentence) {
  if (!sentence.reason.empty()) {
    kill_with_children(sentence.process, sentence.reason);
    return;
  }
  if (engine().log) {
    engine().log(
        guest::Level::warning,
        fmt::format("guest {} was killed and does not stop: it holds a processor until the engine ends",
                    sentence.process->pid()));
  }
  abandon(*sentence.process, kernel::Exit::by_signal(SIGKILL, std::string(guest::reason::killed)));
}

/// Who touched most pages since it was asked last.
std::optional<Watchdog::Sentence> Watchdog::greediest() {
  const Entry* most = nullptr;
  std::uint64_t increase = 0;
  for (Entry& entry : entries_) {
    const std::uint64_t before =
        std::exchange(entry.page_faults, page_faults(entry.thread) + entry.process->background_faults());
    if (entry.process->kill_requested() || entry.page_faults <= before + increase) continue;
    increase = entry.page_faults - before;
    most = &entry;
  }
  if (most == nullptr) return std::nullopt;
  return Sentence{most->process, guest::reason::memory};
}

std::optional<Watchdog::Sentence> Watchdog::check_memory(Instant now) {
  const std::uint64_t resident = resident_bytes();
  if (resident <= *memory_limit_) {
    over_memory_.reset();
    return std::nullopt;
  }
  if (!over_memory_) {
    static_cast<void>(greediest());
    over_memory_ = now;
    next_sentence_ = now;
    return std::nullopt;
  }
  if (now - *over_memory_ < over_for) {
    if (now < *next_sentence_) return std::nullopt;
    next_sentence_ = now + giving_back;
    return greediest();
  }
  fmt::print(stderr, "tare: the guest engine holds {} MB of memory, over its limit of {} MB\n",
             resident >> 20, *memory_limit_ >> 20);
  std::fflush(stderr);
  ::_exit(exit_failed);
}

void Watchdog::run() {
  std::vector<Sentence> sentences;
  bool had_entries = false;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const Instant now = std::chrono::steady_clock::now();
    std::optional<Instant> next;
    for (Entry& entry : entries_) {
      if (entry.look_again <= now) {
        if (const auto reason = look_at(entry, now)) sentences.push_back({entry.process, *reason});
      }
      next = std::min(next.value_or(entry.look_again), entry.look_again);
    }
    if (memory_limit_ && next) {
      if (const auto sentence = check_memory(now)) sentences.push_back(*sentence);
      next = std::min(*next, now + (over_memory_ ? soon : memory_period));
    }
    // Guests come one after the other: who starts need not wake this thread, as long as it wakes by itself.
    if (std::exchange(had_entries, next.has_value()) && !next) next = now + memory_period;
    dozes_ = !next;
    if (!sentences.empty()) {
      // A kill comes back to Guard::killed().
      lock.unlock();
      for (const Sentence& sentence : sentences) carry_out(sentence);
      sentences.clear();
      lock.lock();
    } else if (next) {
      changed_.wait_until(lock, *next);
    } else {
      changed_.wait(lock);
    }
  }
}

}  // namespace tare::engine
