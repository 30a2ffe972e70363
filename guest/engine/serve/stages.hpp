#pragma once

#include "protocol/messages.hpp"

namespace tare::kernel {
class Trace;
}

namespace tare::engine {

/// What was counted so far, and which stages a reader may look for in vain.
guest::StageReport stage_report(const kernel::Trace& trace);

/// Whether this build counts stages at all.
bool can_trace();

}  // namespace tare::engine
