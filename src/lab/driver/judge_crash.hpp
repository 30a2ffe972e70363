#pragma once

#include <string>
#include <vector>

#include "lab/driver/protocol.hpp"

namespace tare::driver {

/// A run of `durableCrash` as it came back: `<label> <status> <task text>`.
struct Restored {
  std::string label;
  std::string status;
  std::string task;
};

/// The runs in the output of a recovery. A last line without its newline is one too: whether it is whole,
/// its text says.
std::vector<Restored> restored_runs(const Sample& sample);

}  // namespace tare::driver
