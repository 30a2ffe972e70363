#pragma once

#include "base/json.hpp"

namespace tare::engine {

/// Takes from every thread of this process, for ever, what an engine never does: start programs or processes,
/// open sockets, trace, mount, load code into the kernel. True, or a text that says why it could not be done.
json::Value lock_down();

}  // namespace tare::engine
