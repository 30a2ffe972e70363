#include "lab/process/poll.hpp"

#include <cerrno>
#include <chrono>
#include <ctime>

#include "base/error.hpp"

namespace tare::process {
namespace {

timespec time_left(Instant deadline) {
  const Nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  const Nanoseconds end = deadline.time_since_epoch();
  if (end <= now) return {0, 0};
  // A day at most: the loop comes back, and no sum overflows.
  const Nanoseconds left = std::min<Nanoseconds>(end - now, std::chrono::hours(24));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  return {seconds.count(), (left - seconds).count()};
}

}  // namespace

int poll_until(std::span<pollfd> fds, Instant deadline) {
  const bool forever = deadline == Instant::max();
  for (;;) {
    const timespec left = forever ? timespec{} : time_left(deadline);
    const int ready = ::ppoll(fds.data(), fds.size(), forever ? nullptr : &left, nullptr);
    if (ready > 0) return ready;
    if (ready < 0 && errno != EINTR) throw Error(ErrorCode::failed, "cannot poll", errno_text(errno));
    if (!forever && std::chrono::steady_clock::now() >= deadline) return 0;
  }
}

SigpipeBlock::SigpipeBlock() {
  sigset_t pending;
  sigpending(&pending);
  was_pending_ = sigismember(&pending, SIGPIPE) == 1;
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before_);
}

SigpipeBlock::~SigpipeBlock() {
  if (!was_pending_) {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    const timespec now{};
    while (sigtimedwait(&pipe, nullptr, &now) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace tare::process
