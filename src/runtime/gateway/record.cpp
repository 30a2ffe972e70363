#include "runtime/gateway/record.hpp"

namespace tare::gateway {

std::string_view name_of(Role role) {
  switch (role) {
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
    case Role::tool_result:
      return "toolResult";
  }
  return "user";
}

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "ok";
    case Outcome::failed:
      return "failed";
    case Outcome::aborted:
      return "aborted";
    case Outcome::timed_out:
      return "timeout";
    case Outcome::interrupted:
      return "interrupted";
  }
  return "failed";
}

}  // namespace tare::gateway
