#include "engine/isolate/watchdog.hpp"

#include <algorithm>
#include <csignal>

#include <pthread.h>

#include "engine/kernel/vm.hpp"

namespace tare::engine {
namespace {

Nanoseconds cpu_time(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

}  // namespace

Watchdog::Watchdog() : thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

Watchdog::Guard Watchdog::watch(const std::shared_ptr<kernel::Process>& process) {
  const kernel::Limits& limits = process->vm()->limits();
  const auto run_time = process->run_time();
  if (!run_time && !limits.cpu_time) return {};
  Entry entry{process, 0, std::nullopt, std::nullopt, {}, std::chrono::steady_clock::now()};
  if (::pthread_getcpuclockid(::pthread_self(), &entry.cpu_clock) != 0) entry.cpu_clock = CLOCK_PROCESS_CPUTIME_ID;
  if (run_time) entry.wall_end = process->started() + *run_time;
  // What the thread used before is the making of the isolate, which is not the guest's.
  if (limits.cpu_time) entry.cpu_limit = cpu_time(entry.cpu_clock) + *limits.cpu_time;
  const std::lock_guard lock(mutex_);
  entries_.push_front(std::move(entry));
  changed_.notify_all();
  return {this, entries_.begin()};
}

Watchdog::Guard::~Guard() {
  if (watchdog_ == nullptr) return;
  const std::lock_guard lock(watchdog_->mutex_);
  watchdog_->entries_.erase(entry_);
}

void Watchdog::look_at(Entry& entry, Instant now) {
  constexpr Nanoseconds later = std::chrono::hours(24);
  entry.look_again = now + later;
  if (entry.process->kill_requested()) return;
  if (entry.wall_end) {
    if (now >= *entry.wall_end) {
      static_cast<void>(entry.process->signal(SIGKILL, "wallTime"));
      return;
    }
    entry.look_again = *entry.wall_end;
  }
  if (entry.cpu_limit == Nanoseconds::zero()) return;
  const Nanoseconds left = entry.cpu_limit - cpu_time(entry.cpu_clock);
  if (left <= Nanoseconds::zero()) {
    static_cast<void>(entry.process->signal(SIGKILL, "cpuTime"));
    return;
  }
  // Not at once again for a remainder that the clock can't tell from nothing.
  constexpr Nanoseconds least = std::chrono::milliseconds(1);
  entry.look_again = std::min(entry.look_again, now + std::max(left, least));
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const Instant now = std::chrono::steady_clock::now();
    std::optional<Instant> next;
    for (Entry& entry : entries_) {
      if (entry.look_again <= now) look_at(entry, now);
      next = std::min(next.value_or(entry.look_again), entry.look_again);
    }
    if (next) {
      changed_.wait_until(lock, *next);
    } else {
      changed_.wait(lock);
    }
  }
}

}  // namespace tare::engine
