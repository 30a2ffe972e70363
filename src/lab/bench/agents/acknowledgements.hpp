#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "base/fd.hpp"

namespace tare::agents_bench {

/// The lines that a worker writes to a FIFO, one for each run that it has acknowledged, and its end: after so
/// many of them its process group is killed, at once, by a thread of its own.
class Acknowledgements {
 public:
  /// Makes the FIFO in a folder. Throws Error(failed).
  explicit Acknowledgements(const std::filesystem::path& folder);
  ~Acknowledgements();
  Acknowledgements(const Acknowledgements&) = delete;
  Acknowledgements& operator=(const Acknowledgements&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Begins to read. `worker` is a process that leads its group, and is not waited for before it has ended
  /// by itself or by this.
  void kill_after(std::uint64_t lines, pid_t worker);

  /// Once the worker is gone: what it had written, to the last whole line.
  std::vector<std::string> finish();

  /// Whether it was killed.
  bool killed() const { return killed_; }

 private:
  void read_on(std::uint64_t lines, pid_t worker);
  bool take();
  void stop();

  std::filesystem::path path_;
  Fd fifo_;
  Fd worker_;  ///< its pidfd: its number is nobody else's while this one can be signalled
  Fd stop_;
  std::string text_;
  std::uint64_t lines_ = 0;
  std::atomic<bool> killed_{false};
  std::thread thread_;
};

}  // namespace tare::agents_bench
