#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/isolate/watchdog.hpp"
#include "engine/kernel/process_table.hpp"

namespace tare::kernel {
class Trace;
}

namespace tare::engine {

/// The threads that run guests, one per process. Some wait with their isolate and context made already; when
/// all of those are taken, a process gets the one that is being made, or else a thread that makes its own. A
/// process whose memory limits are not the usual ones gets one, too, as V8 wants the size of a heap
/// beforehand. Thread-safe.
class Pool final : public kernel::Runner {
 public:
  struct Counters {
    std::uint64_t hits = 0;    ///< processes that found an isolate waiting
    std::uint64_t misses = 0;  ///< processes that had to wait for theirs to be made
    std::size_t ready = 0;     ///< isolates that wait
    std::size_t threads = 0;   ///< of guests, waiting or running
  };

  /// `size` isolates wait; 0: none ever does. The process ends when it holds more than `memory_limit` bytes.
  /// The snapshot must be there. `trace` counts what is done; it may be null.
  explicit Pool(std::size_t size, std::optional<std::uint64_t> memory_limit = std::nullopt,
                std::shared_ptr<kernel::Trace> trace = nullptr);
  ~Pool() override;

  kernel::Result<void> start(std::shared_ptr<kernel::Process> process) override;
  Counters counters() const;

  /// Lets the waiting threads go and waits for every thread until the deadline. False when some still ran.
  bool shut_down(Instant deadline);

 private:
  class Slot;
  void refill();
  bool launch(const std::shared_ptr<Slot>& slot);
  void thread_ended();
  void cold_is_made();
  void process_ended();
  void wait_to_refill(std::unique_lock<std::mutex>& lock);
  bool is_idle() const;
  void tidy();
  void adopt();

  const std::size_t size_;
  const std::shared_ptr<kernel::Trace> trace_;
  Watchdog watchdog_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;  ///< anything below, or a slot is ready
  std::deque<std::shared_ptr<Slot>> ready_;
  std::shared_ptr<Slot> making_;  ///< the next one that will be ready
  std::size_t cold_ = 0;          ///< processes whose isolate is being made
  std::size_t running_ = 0;       ///< processes that have not ended, those included
  std::size_t most_running_ = 0;  ///< at once, since the memory was tidied
  std::uint64_t ended_ = 0;       ///< processes, since the memory was tidied
  Instant last_start_{};
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::size_t threads_ = 0;
  bool stopping_ = false;
  std::thread refiller_;
  std::thread adopter_;
};

}  // namespace tare::engine
