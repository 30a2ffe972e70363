#include "runtime/provider/failure.hpp"

#include <utility>

namespace tare::provider {
namespace {

ErrorCode code_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::unreachable:
      return ErrorCode::unavailable;
    case FailureKind::timeout:
      return ErrorCode::timeout;
    default:
      return ErrorCode::failed;
  }
}

}  // namespace

bool is_retryable(FailureKind kind) {
  return kind != FailureKind::unauthorized && kind != FailureKind::rejected && kind != FailureKind::too_large;
}

Failure::Failure(FailureKind kind, const std::string& what, const std::string& why, const std::string& hint)
    : Error(code_of(kind), what, why, hint), kind_(kind) {}

Failure Failure::with_status(int status) && {
  status_ = status;
  return std::move(*this);
}

Failure Failure::with_retry_after(std::optional<std::chrono::milliseconds> wait) && {
  retry_after_ = wait;
  return std::move(*this);
}

}  // namespace tare::provider
