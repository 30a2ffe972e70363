#include "lab/driver/roster.hpp"

namespace tare::driver {

Roster::Roster() {
  process::become_subreaper();
}

void Roster::keep(pid_t pid) {
  living_.push_back(pid);
}

void Roster::forget(pid_t pid) {
  std::erase(living_, pid);
}

process::Strays Roster::sweep(Instant deadline) const {
  return process::reap_strays(living_, deadline);
}

}  // namespace tare::driver
