#pragma once

#include <csignal>
#include <span>

#include <poll.h>

#include "base/clock.hpp"

namespace tare::process {

/// poll until something is ready or the deadline passes, whatever signals arrive meanwhile. Returns the
/// number of ready descriptors, 0 at the deadline. Instant::max() waits for ever; a deadline in the past
/// looks once. Throws Error(failed) when poll itself fails.
int poll_until(std::span<pollfd> fds, Instant deadline);

/// Something outside an exchange that ends it early: a signalfd or eventfd that becomes readable or, with
/// `events` 0, a pipe whose other end goes away.
struct Interrupt {
  int fd = -1;  ///< -1: none
  short events = POLLIN;

  pollfd entry() const { return {fd, events, 0}; }
};

/// Keeps a write to a pipe that nobody reads from raising SIGPIPE in this thread; write then fails with
/// EPIPE. The disposition of the process is not touched.
class SigpipeBlock {
 public:
  SigpipeBlock();
  ~SigpipeBlock();
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

 private:
  sigset_t before_;
  bool was_pending_;
};

}  // namespace tare::process
