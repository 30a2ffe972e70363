#pragma once

#include <csignal>
#include <optional>

namespace tare {

/// Turns SIGINT, SIGTERM, SIGHUP and SIGQUIT into something that can be waited for: while one of these
/// objects lives, the signals are blocked in the calling thread (and in threads it starts later) and `fd()`
/// becomes readable when one arrives, and stays so. No code runs in a signal handler.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// For poll() only: reading from it would lose the signal.
  int fd() const { return fd_; }

  /// The signal that arrived, or nothing.
  std::optional<int> signal() const;

 private:
  int fd_;
  sigset_t old_mask_;
};

}  // namespace tare
