#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tare {

/// What kind of thing went wrong; decides the exit code of the process.
enum class ErrorCode {
  usage,        ///< bad command line (exit 2)
  input,        ///< bad configuration or input file (exit 2)
  unavailable,  ///< something that was asked for is not on this machine (exit 2)
  failed,       ///< a measurement, an invariant or the system failed (exit 1)
  timeout,      ///< a deadline passed (exit 1)
};

/// Exit codes, as documented in README and `tare --help`.
enum ExitCode : int {
  exit_ok = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_budget_failed = 3,
  exit_budget_inconclusive = 4,
  exit_interrupted = 130,
  exit_terminated = 143,
};

/// An error for a person: what happened, why, and what to do about it.
/// `line()` is the one line that they see: `tare: <what> (<why>); <hint>`.
class Error : public std::runtime_error {
 public:
  explicit Error(ErrorCode code, const std::string& what, std::string why = {}, std::string hint = {});

  ErrorCode code() const { return code_; }
  const std::string& why() const { return why_; }
  const std::string& hint() const { return hint_; }

  /// One line, without a newline: control characters of foreign text are escaped.
  std::string line() const;
  ExitCode exit_code() const;

 private:
  ErrorCode code_;
  std::string why_;
  std::string hint_;
};

/// `strerror` of an errno, without its locale: "No space left on device".
std::string errno_text(int error);

}  // namespace tare
