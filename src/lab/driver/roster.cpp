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

process::Strays Roster::sweep(Instant deadline) {
  process::Strays strays = process::reap_strays(living_, deadline, target_variable);
  for (const auto& [label, killed] : strays.killed_by_mark) left_by_[label] += killed;
  return strays;
}

std::size_t Roster::take_left_by(const std::string& label) {
  const auto found = left_by_.extract(label);
  return found.empty() ? 0 : found.mapped();
}

}  // namespace tare::driver
