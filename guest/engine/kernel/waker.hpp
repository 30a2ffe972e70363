#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "engine/kernel/result.hpp"

namespace tare::kernel {

/// Tells a guest's loop that something it watches may have changed: its thread's Wait below, or what stands
/// in for it.
///
/// wake() is called from other guests' threads, never under a lock of the kernel, must be cheap and must not
/// block. The kernel holds wakers by shared_ptr and calls them after it has let its locks go, so that a call
/// may still arrive shortly after unwatch(): the waker itself must outlive that, which shared_ptr sees to.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void wake() = 0;
};

/// Where a thread of a process sleeps in a blocking system call, until what it waits for may have changed or
/// the process is killed. Thread-safe. No wake-up is lost when it is used like this:
///
///     for (;;) {
///       const Wait::Ticket ticket = wait.ticket();  // before looking
///       if (auto done = try_it(); done.error() != EAGAIN) return done;
///       if (auto slept = wait.block(ticket); !slept.ok()) return Errno{slept.error()};
///     }
class Wait final : public Waker {
 public:
  using Ticket = std::uint64_t;

  /// Stands for what has been woken so far.
  Ticket ticket() const;

  /// Returns as soon as wake() was called after `ticket` was taken, at once if it was already; wake-ups for
  /// another reason are possible. Refused with EINTR once interrupted.
  Result<void> block(Ticket ticket);
  /// The same, and ETIMEDOUT at `deadline` (of the steady clock).
  Result<void> block_until(Ticket ticket, Instant deadline);

  void wake() override;

  /// Ends every block() of now and later with EINTR. Not undone.
  void interrupt();
  bool interrupted() const;

  /// A host descriptor that becomes readable with every wake() and interrupt(), for whoever has to wait in
  /// poll() for a host socket as well. Made at the first call; owned by this object. Refused with EMFILE.
  Result<int> event_fd();
  /// Makes event_fd() unreadable again, unless interrupted.
  void drain_event_fd();

 private:
  void signal_fd() const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Ticket woken_ = 0;
  bool interrupted_ = false;
  Fd event_;
};

}  // namespace tare::kernel
