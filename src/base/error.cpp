#include "base/error.hpp"

#include <cstring>
#include <utility>

#include "base/text.hpp"

namespace tare {

Error::Error(ErrorCode code, const std::string& what, std::string why, std::string hint)
    : std::runtime_error(what), code_(code), why_(std::move(why)), hint_(std::move(hint)) {}

std::string Error::line() const {
  std::string line = "tare: ";
  line += what();
  if (!why_.empty()) line += " (" + why_ + ")";
  if (!hint_.empty()) line += "; " + hint_;
  constexpr std::size_t most = 4000;  // a mistyped argument can be a megabyte
  if (line.size() > most) line = line.substr(0, most) + "…";
  return text::one_line(line);
}

ExitCode Error::exit_code() const {
  switch (code_) {
    case ErrorCode::usage:
    case ErrorCode::input:
    case ErrorCode::unavailable:
      return exit_usage;
    case ErrorCode::failed:
    case ErrorCode::timeout:
      return exit_failed;
  }
  return exit_failed;
}

std::string errno_text(int error) {
  const char* description = strerrordesc_np(error);
  return description != nullptr ? description : "error " + std::to_string(error);
}

}  // namespace tare
