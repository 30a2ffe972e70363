#include "lab/driver/failure.hpp"

#include <utility>

#include "base/text.hpp"

namespace tare::driver {
namespace {

ErrorCode code_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::cannot_start:
      return ErrorCode::unavailable;
    case FailureKind::late:
    case FailureKind::timeout:
      return ErrorCode::timeout;
    default:
      return ErrorCode::failed;
  }
}

std::string stderr_hint(std::string_view tail) {
  const std::string end = text::tail(tail, 3, 400);
  return end.empty() ? std::string() : "its stderr ends: " + end;
}

}  // namespace

Violation::Violation(FailureKind kind, const std::string& what, std::string why)
    : Error(code_of(kind), what, std::move(why)), kind_(kind) {}

DriverFailure::DriverFailure(FailureKind kind, std::string_view driver, const std::string& what,
                             std::string why, std::string stderr_tail)
    : Error(code_of(kind), "driver '" + std::string(driver) + "' " + what, std::move(why),
            stderr_hint(stderr_tail)),
      kind_(kind),
      stderr_tail_(std::move(stderr_tail)) {}

std::string DriverFailure::sentence() const {
  return text::one_line(why().empty() ? std::string(what()) : std::string(what()) + " (" + why() + ")");
}

}  // namespace tare::driver
