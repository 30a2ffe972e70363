#include "lab/bench/spawn/pin.hpp"

#include <sched.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tare::spawn {

void pin_to(std::uint64_t cpu) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  cpu_set_t one;
  CPU_ZERO(&one);
  if (cpu < CPU_SETSIZE) CPU_SET(cpu, &one);
  if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &allowed) || sched_setaffinity(0, sizeof one, &one) != 0) {
    throw Error(ErrorCode::usage, fmt::format("--pin {}: this process may not run on that CPU", cpu), "",
                "`tare doctor` lists the CPUs it may use");
  }
}

}  // namespace tare::spawn
