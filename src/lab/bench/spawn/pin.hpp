#pragma once

#include <cstdint>

namespace tare::spawn {

/// Lets this process, and all that it starts from now on, run on one CPU only.
/// Throws Error(usage) when it may not run there.
void pin_to(std::uint64_t cpu);

}  // namespace tare::spawn
