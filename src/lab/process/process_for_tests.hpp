#pragma once

#include <chrono>
#include <string>

#include "base/clock.hpp"
#include "lab/process/child.hpp"

namespace tare::process {

inline Instant in(Nanoseconds time) {
  return std::chrono::steady_clock::now() + time;
}

inline SpawnOptions shell(const std::string& script) {
  return {.argv = {"/bin/sh", "-c", script}};
}

}  // namespace tare::process
