#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <ctime>

#include "base/clock.hpp"
#include "engine/kernel/process.hpp"

namespace tare::engine {

/// Ends processes that pass their limits of time. It sleeps until the first of them can have done so: a limit
/// of processor time can't be passed before as much time has gone by. Thread-safe.
class Watchdog {
 public:
  class Guard;

  Watchdog();
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Watches a process that the calling thread runs, until the guard goes. Costs nothing without limits.
  Guard watch(const std::shared_ptr<kernel::Process>& process);

 private:
  struct Entry {
    std::shared_ptr<kernel::Process> process;
    clockid_t cpu_clock;
    std::optional<Instant> wall_end;
    std::optional<Nanoseconds> cpu_left_at_start;
    Nanoseconds cpu_limit{};
    Instant look_again;
  };
  using Entries = std::list<Entry>;

  void run();
  static void look_at(Entry& entry, Instant now);

  std::mutex mutex_;
  std::condition_variable changed_;
  Entries entries_;
  bool stopping_ = false;
  std::thread thread_;
};

class Watchdog::Guard {
 public:
  Guard() = default;
  Guard(Watchdog* watchdog, Entries::iterator entry) : watchdog_(watchdog), entry_(entry) {}
  Guard(Guard&&) = delete;
  Guard& operator=(Guard&&) = delete;
  ~Guard();

 private:
  Watchdog* watchdog_ = nullptr;
  Entries::iterator entry_;
};

}  // namespace tare::engine
