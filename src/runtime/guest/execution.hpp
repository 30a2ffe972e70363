#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.hpp"
#include "runtime/guest/exit.hpp"
#include "runtime/guest/life.hpp"
#include "runtime/guest/profile.hpp"

namespace tare::guest {

class Connection;

/// Output of a guest, as it comes. The bytes are valid until the next call on the execution.
struct Stdout {
  std::string_view bytes;
};
struct Stderr {
  std::string_view bytes;
};

/// The last event of an execution, once the last byte of its output has been read.
struct Ended {
  Exit exit;
};

using Event = std::variant<Stdout, Stderr, Ended>;

/// One guest. Moves, does not copy. write_stdin, close_stdin and kill may be called from any thread; all else
/// from one thread at a time.
///
/// Output is not read ahead: a guest that writes more than its socket holds waits until it is polled.
class Execution {
 public:
  struct State;
  explicit Execution(std::unique_ptr<State> state);
  Execution(Execution&&) noexcept;
  Execution& operator=(Execution&&) noexcept;
  /// Kills the guest if it is not known to have ended. Does not wait.
  ~Execution();

  /// Its number in the virtual machine; waits until it has started. Nothing when it never did.
  std::optional<std::int64_t> pid();

  /// Writes all of it, and waits while the guest does not read. False when the guest does not read any more.
  /// Throws Error(failed) for a guest without pipes.
  bool write_stdin(std::string_view bytes);
  /// The guest sees the end of its input. More than once is harmless.
  void close_stdin();

  /// The next event; nothing when the deadline has passed. After Ended, Ended again.
  std::optional<Event> poll_event(std::optional<Instant> deadline = std::nullopt);

  /// Waits for the end and throws away what output there is on the way. Nothing when the deadline has passed.
  std::optional<Exit> wait(Instant deadline);
  Exit wait();

  /// Sends a signal by its name, "SIGTERM". Harmless when the guest has ended.
  void kill(std::string_view signal = "SIGKILL");

  /// Once it has ended: a profile that its spawn asked for. Without one, the error says why.
  Profile take_profile(ProfileKind kind);

  /// Of an engine that traces: its moments so far. Complete once Ended was returned.
  std::optional<Life> life();

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tare::guest
