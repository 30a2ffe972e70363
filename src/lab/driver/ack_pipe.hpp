#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "base/fd.hpp"

namespace tare::driver {

/// The FIFO of `durableCrash`: takes the lines that a driver writes to it, one for each run that it has
/// acknowledged. A thread reads it all the time, so that no driver waits for the lab, and can kill the driver
/// after so many lines. Its methods belong to one thread.
class AckPipe {
 public:
  /// Makes the FIFO and begins to read. Throws Error(failed).
  explicit AckPipe(std::filesystem::path path);
  /// Removes the FIFO.
  ~AckPipe();
  AckPipe(const AckPipe&) = delete;
  AckPipe& operator=(const AckPipe&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// SIGKILLs the group that `leader` leads, as soon as so many lines are there. It is a process that is not
  /// waited for before it has ended by itself or by this. Throws Error(failed).
  void kill_after(std::uint64_t lines, pid_t leader);

  /// Once nobody writes any more: what was written, to the last whole line. Nothing is killed from then on.
  std::vector<std::string> finish();

  /// Whether the group was killed.
  bool killed() const { return killed_; }

 private:
  struct Victim {
    Fd pidfd;  ///< the number is nobody else's while this one can be signalled
    pid_t leader;
    std::uint64_t lines;
  };

  void read_on();
  bool take();
  void kill_when_due();
  void wake();
  void stop();

  std::filesystem::path path_;
  Fd fifo_;
  Fd wake_;
  std::string text_;         ///< the thread's, until it has ended
  std::uint64_t lines_ = 0;  ///< the same
  std::mutex mutex_;
  std::optional<Victim> victim_;  ///< guarded by the mutex
  std::atomic<bool> killed_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace tare::driver
