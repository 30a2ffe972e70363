#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/clock.hpp"
#include "lab/driver/failure.hpp"
#include "lab/driver/protocol.hpp"
#include "lab/driver/roster.hpp"
#include "lab/process/child.hpp"
#include "lab/process/lines.hpp"

namespace tare::driver {

/// How a driver is started.
struct DriverCommand {
  std::string label;  ///< names it in errors: the target's id
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  ///< on top of this process's own
  std::optional<std::string> cwd;
};

struct DriverOptions {
  Nanoseconds hello_timeout = std::chrono::seconds(10);
  /// What a request gets beyond the budget of its operation.
  Nanoseconds grace = std::chrono::seconds(5);
  /// From bye until the driver must be gone; also how long anything that was killed is waited for.
  Nanoseconds bye_timeout = std::chrono::seconds(2);
  /// A descriptor that ends every wait when it becomes readable (Interrupt::fd); -1: none.
  int interrupt_fd = -1;
  /// With it, whatever a driver leaves behind is found and killed when the driver ends.
  std::shared_ptr<Roster> roster;
};

/// How a driver ended.
struct Farewell {
  bool graceful = false;              ///< it answered bye and left by itself in time
  std::optional<std::string> note;    ///< what was wrong if not
  std::optional<process::Exit> exit;  ///< of the driver itself
  process::Strays strays;             ///< what it left behind; zero without a roster
};

/// A driver that runs: the lab's side of the protocol, one request at a time. The driver leads its own
/// process group. Every failure is a DriverFailure with one clear line and the end of the driver's stderr.
/// After a failure that leaves it out of step (all but unsupported, invalid, failed, timeout and
/// invalid_sample) the driver and everything below it has been killed and reaped.
///
/// The destructor kills what still runs. One thread at a time.
class Driver {
 public:
  /// Starts it and waits for its hello.
  explicit Driver(DriverCommand command, DriverOptions options = {});
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  const Hello& hello() const { return hello_; }
  const std::string& label() const { return command_.label; }
  /// Of the process that was started; hello().pid may be another one.
  pid_t pid() const { return child_->pid(); }
  bool alive() const { return alive_; }

  /// Takes samples. The deadline is the request's, else iterations times its timeout, plus the grace.
  std::vector<Sample> sample(const SampleRequest& request);

  /// What the runtime counted of its stages so far. Only a driver whose hello has `stages` is asked.
  Stages stages(Nanoseconds timeout);

  /// Says bye and waits until it has left; kills it when it stays. Never throws for what the driver does.
  Farewell bye();

  /// The end of what it wrote to stderr so far.
  std::string stderr_tail();

 private:
  /// `asked` names the request in errors.
  Reply ask(std::int64_t id, std::string_view line, Instant deadline, std::string_view asked);
  void watch();
  process::Lines::Read read(Instant deadline);
  void refuse_unasked_lines();
  Reply receive(std::int64_t id, Instant deadline, std::string_view asked);
  [[noreturn]] void gone(std::string_view asked, std::string_view rest);
  [[noreturn]] void give_up(const Violation& violation);
  bool wait_gone(Instant deadline);
  /// Kills it and everything below it, and reaps.
  void stop();

  DriverCommand command_;
  DriverOptions options_;
  std::optional<process::Child> child_;
  Fd wake_;  ///< an epoll: readable when the driver has exited or the lab is told to stop
  std::optional<process::Lines> lines_;
  Hello hello_;
  std::int64_t next_id_ = 0;
  bool alive_ = false;
  bool left_ = false;  ///< it has exited; its pipe may still hold lines
  process::Strays strays_;
};

}  // namespace tare::driver
