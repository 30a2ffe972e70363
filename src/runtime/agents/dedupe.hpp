#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/agents/table.hpp"

namespace tare::agents {

/// The run with the newest generation of each child session, as indices into `runs` in rising order. Of equal
/// generations the one with the higher id. The runs are of one registry, in any order. O(n).
std::vector<std::uint32_t> newest_per_child(std::span<const RunKey> runs);

}  // namespace tare::agents
