#pragma once

#include <cstdint>

#include "protocol/messages.hpp"

namespace tare::engine {

/// Answers the client on descriptor 3 until it closes it, then kills what still runs. Returns the exit code
/// of the process, whose caller must end it at once: guests that can't be stopped may still be there.
int serve_client(const guest::EngineConfig& config);

}  // namespace tare::engine
