#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/clock.hpp"
#include "base/fd.hpp"

namespace tare::guest {

struct ChildOptions {
  std::vector<std::string> argv;  ///< the first is the path of the program
  std::vector<std::string> env;   ///< NAME=value, all there is
  int control = -1;               ///< becomes its descriptor 3
};

/// A program of the host that this client needs: a tool that makes files, or the engine.
///
/// It has a process group of its own, so that a Ctrl-C at the terminal is the client's to handle, no
/// descriptors but those given, stdin and stdout /dev/null, and what it says on stderr is kept. The thread
/// that starts it lives until it has exited, as the kernel counts a parent's death by threads; so there is no
/// zombie either, whether or not somebody waits. Thread-safe.
class Child {
 public:
  /// Throws Error(unavailable) when it cannot be started.
  explicit Child(ChildOptions options);
  ~Child();  ///< kills it, if it is there
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }

  /// Waits for its end, at most so long; the status as waitpid gives it.
  std::optional<int> wait(Nanoseconds limit);
  bool alive();
  void kill();

  /// "killed by SIGKILL", "exited with code 1", "still running".
  std::string how_it_ended();

  /// What it wrote to stderr, as it is; of much of it the last 64 KiB.
  std::string words() const;
  /// The last lines that it wrote to stderr, safe for one line; "" for none. What goes beyond the first
  /// megabyte is lost.
  std::string last_words() const;

 private:
  pid_t start(const ChildOptions& options);
  void reap();

  Fd said_;
  pid_t pid_ = -1;
  std::thread keeper_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<int> status_;
};

}  // namespace tare::guest
