#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lab/driver/driver.hpp"

namespace tare::driver {

/// A driver that is sent lines which the Driver class never sends, to see what it does with them.
/// Throws Violation for a line that is no answer; `gone()` tells a driver that left from one that is slow.
class RawSession {
 public:
  /// `options.roster` must be set. Throws SpawnError.
  RawSession(const DriverCommand& command, const DriverOptions& options);
  ~RawSession();
  RawSession(const RawSession&) = delete;
  RawSession& operator=(const RawSession&) = delete;

  /// Sends a line and returns the answer, or nothing when none came within `wait`.
  std::optional<Reply> ask(std::string_view line, Nanoseconds wait);
  /// A line that came without being asked for, if there is one within `wait`.
  std::optional<std::string> extra_line(Nanoseconds wait);

  void close_input() { lines_->close_input(); }
  /// Whether it has exited, or does within `wait`.
  bool gone(Nanoseconds wait);
  /// Kills what is left and reaps; how many processes the driver left behind.
  std::size_t finish();
  const std::optional<process::Exit>& exit() const { return child_->exit(); }
  std::string stderr_tail() { return lines_->stderr_tail(); }

 private:
  std::optional<std::string> read(Nanoseconds wait);

  DriverOptions options_;
  std::optional<process::Child> child_;
  std::optional<process::Lines> lines_;
  bool finished_ = false;
};

}  // namespace tare::driver
