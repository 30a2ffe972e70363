#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "base/clock.hpp"

namespace tare::gateway {

/// Of a time window: how late the loop was, and what it did.
struct LoopSample {
  std::chrono::duration<double, std::milli> window{};
  std::chrono::duration<double, std::milli> delay_p99{};
  std::chrono::duration<double, std::milli> delay_max{};
  double utilization = 0;  ///< share of the window in which the loop's thread ran on a CPU
  double cpu_cores = 0;    ///< CPU time of the process over the window
  double user_share = 0;   ///< of that CPU time
};

/// Watches the loop that it runs on: a timer that is due every 20 ms says how late it is, and once a second
/// what it saw becomes the sample that `/readyz` and `status` tell.
class EventLoopMonitor {
 public:
  EventLoopMonitor(boost::asio::io_context& io, const Clock& clock);

  void start();
  void stop();
  /// Absent until the first second is over.
  const std::optional<LoopSample>& sample() const { return sample_; }
  bool is_degraded() const { return degraded_since_.has_value(); }
  /// The object `eventLoop`; absent figures are null.
  std::string json() const;

  /// What the loop's second is made of, for the tests: the delays that were seen and the CPU times.
  struct CpuTimes {
    Nanoseconds thread{};
    Nanoseconds user{};
    Nanoseconds system{};
  };
  void conclude(std::vector<Nanoseconds> delays, Nanoseconds window, const CpuTimes& spent);

 private:
  void wait();
  void tick();

  boost::asio::steady_timer timer_;
  const Clock& clock_;
  std::chrono::steady_clock::time_point due_{};
  std::chrono::steady_clock::time_point window_from_{};
  CpuTimes cpu_from_;
  std::vector<Nanoseconds> delays_;
  std::optional<LoopSample> sample_;
  std::optional<Instant> degraded_since_;
};

struct ProcessMemory {
  std::int64_t rss = 0;
  std::int64_t heap_used = 0;
  std::int64_t heap_total = 0;
};
/// In bytes, as the kernel and the allocator count.
ProcessMemory process_memory();
std::int64_t process_id();

}  // namespace tare::gateway
