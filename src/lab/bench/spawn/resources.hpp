#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include <sys/types.h>

#include "lab/driver/protocol.hpp"
#include "lab/report/document.hpp"

namespace tare::spawn {

/// CPU time, and of how many operations.
struct Cpu {
  std::chrono::microseconds user{};
  std::chrono::microseconds system{};
  std::uint64_t operations = 0;
};

/// Adds up what a lane's operations cost. CPU can be known in two ways: from the samples themselves (wait4 of
/// every child), and from the clock ticks of the driver's process tree over the timed rounds.
class Costs {
 public:
  /// Before the first and after the last timed round of one driver process.
  void begin(pid_t driver);
  void end(pid_t driver);
  void add(const driver::Sample& sample);

  /// The mean per operation of all that was added, weighed with what `resources` holds already of
  /// `earlier` operations.
  void write(report::Resources& resources, std::uint64_t earlier) const;

 private:
  Cpu samples_;
  bool samples_complete_ = true;  ///< every sample said what it cost
  Cpu tree_;
  bool tree_readable_ = true;
  std::optional<Cpu> at_begin_;
  std::uint64_t since_begin_ = 0;  ///< operations whose cost `end` will tell
  std::optional<std::uint64_t> max_rss_;
};

/// Watches a process tree from a thread of its own, from its making to `stop`, and keeps the peaks. Only for
/// operations that nobody times: reading /proc takes CPU from what it watches.
class PeakWatch {
 public:
  explicit PeakWatch(pid_t root);
  ~PeakWatch() { stop(); }
  PeakWatch(const PeakWatch&) = delete;
  PeakWatch& operator=(const PeakWatch&) = delete;

  void stop();
  /// After `stop`: the peaks, none of which is below what `resources` holds already.
  void write(report::Resources& resources) const;

 private:
  void look();

  pid_t root_;
  report::Resources peaks_;
  std::jthread thread_;
};

}  // namespace tare::spawn
