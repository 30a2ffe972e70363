#pragma once

#include "protocol/messages.hpp"

namespace tare::kernel {
class Trace;
}

namespace tare::engine {

/// What was counted so far. Every stage that the lab looks for is one of this engine: none is absent.
guest::StageReport stage_report(const kernel::Trace& trace);

/// Whether this build counts stages at all.
bool can_trace();

}  // namespace tare::engine
