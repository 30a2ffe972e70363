#include "base/interrupt.hpp"

#include <array>
#include <cerrno>

#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.hpp"

namespace tare {
namespace {

constexpr std::array watched = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

sigset_t watched_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : watched) sigaddset(&set, signal);
  return set;
}

}  // namespace

Interrupt::Interrupt() : fd_(-1) {
  const sigset_t set = watched_set();
  pthread_sigmask(SIG_BLOCK, &set, &old_mask_);
  fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0) {
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
    throw Error(ErrorCode::failed, "cannot watch for signals", errno_text(error));
  }
}

Interrupt::~Interrupt() {
  // What arrived has been seen; unblocking it now would kill the process after its orderly end.
  signalfd_siginfo seen{};
  while (::read(fd_, &seen, sizeof seen) > 0) {
  }
  ::close(fd_);
  pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

std::optional<int> Interrupt::signal() const {
  sigset_t pending;
  sigpending(&pending);
  for (const int signal : watched) {
    if (sigismember(&pending, signal) == 1) return signal;
  }
  return std::nullopt;
}

}  // namespace tare
