#include "engine/kernel/waker.hpp"

#include <cerrno>

#include <sys/eventfd.h>
#include <unistd.h>

namespace tare::kernel {

Wait::Ticket Wait::ticket() const {
  const std::lock_guard lock(mutex_);
  return woken_;
}

Result<void> Wait::block(Ticket ticket) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return interrupted_ || woken_ != ticket; });
  if (interrupted_) return Errno{EINTR};
  return {};
}

Result<void> Wait::block_until(Ticket ticket, Instant deadline) {
  std::unique_lock lock(mutex_);
  const bool woken = changed_.wait_until(lock, deadline, [&] { return interrupted_ || woken_ != ticket; });
  if (interrupted_) return Errno{EINTR};
  if (!woken) return Errno{ETIMEDOUT};
  return {};
}

void Wait::wake() {
  const std::lock_guard lock(mutex_);
  ++woken_;
  changed_.notify_all();
  signal_fd();
}

void Wait::interrupt() {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  changed_.notify_all();
  signal_fd();
}

bool Wait::interrupted() const {
  const std::lock_guard lock(mutex_);
  return interrupted_;
}

Result<int> Wait::event_fd() {
  const std::lock_guard lock(mutex_);
  if (!event_) {
    event_ = Fd(::eventfd(interrupted_ ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event_) return Errno{EMFILE};
  }
  return event_.get();
}

void Wait::drain_event_fd() {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  if (!event_ || interrupted_) return;
  [[maybe_unused]] const auto read = ::read(event_.get(), &count, sizeof count);
}

// An eventfd that cannot take one more is readable already, which is all that is wanted.
void Wait::signal_fd() const {
  if (!event_) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

}  // namespace tare::kernel
