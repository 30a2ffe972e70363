#pragma once

#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <v8.h>
#include <vector>

#include <sys/types.h>

#include "base/clock.hpp"
#include "engine/kernel/process.hpp"

namespace tare::engine {

/// Ends processes that pass their limits of time, and sees to it that what was killed ends. While nothing is
/// killed it sleeps until the first limit can have been passed: one of processor time can't be before as much
/// time has gone by. When the whole process holds more memory than it may, it ends the guest that takes most
/// at that moment, and when that is of no help the process. Thread-safe.
class Watchdog {
 public:
  class Guard;

  /// `memory_limit`: resident bytes of the whole process.
  explicit Watchdog(std::optional<std::uint64_t> memory_limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Watches a process that the calling thread runs, until the guard goes. A process with an isolate that is
  /// killed is terminated in it, again and again: whoever catches that must not go on for ever. Where V8 is
  /// busy with one endless step, nothing ends the thread: after a while the process is abandoned.
  Guard watch(const std::shared_ptr<kernel::Process>& process, v8::Isolate* isolate);

 private:
  struct Entry {
    std::shared_ptr<kernel::Process> process;
    v8::Isolate* isolate;
    clockid_t cpu_clock;
    pid_t thread;
    std::optional<Instant> wall_end;
    Nanoseconds cpu_limit{};  ///< on the thread's clock; zero: none
    std::optional<Instant> killed;
    std::uint64_t page_faults = 0;  ///< when last asked
    Instant look_again;
  };
  using Entries = std::list<Entry>;
  /// What is to be done to a process once the lock is free.
  struct Sentence {
    std::shared_ptr<kernel::Process> process;
    std::string_view reason;  ///< empty: it was killed long ago and still runs
  };

  void run();
  std::optional<std::string_view> look_at(Entry& entry, Instant now);
  static void carry_out(const Sentence& sentence);
  std::optional<Sentence> check_memory(Instant now);
  std::optional<Sentence> greediest();

  const std::optional<std::uint64_t> memory_limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Entries entries_;
  bool stopping_ = false;
  bool dozes_ = true;                     ///< nothing will wake the thread but a notification
  std::optional<Instant> over_memory_;    ///< since when
  std::optional<Instant> next_sentence_;  ///< for memory, not before
  std::thread thread_;
};

class Watchdog::Guard {
 public:
  Guard(Watchdog* watchdog, Entries::iterator entry) : watchdog_(watchdog), entry_(entry) {}
  Guard(Guard&&) = delete;
  Guard& operator=(Guard&&) = delete;
  ~Guard();

  /// For any thread: the process was killed.
  void killed();

 private:
  Watchdog* watchdog_;
  Entries::iterator entry_;
};

}  // namespace tare::engine
