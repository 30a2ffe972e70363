#pragma once

#include "engine/bindings/sys.hpp"
#include "engine/kernel/process_table.hpp"

namespace tare::engine::sys {

/// args: file, arguments, cwd or undefined, "NAME=value" strings or undefined (those of the parent).
/// Everything but the standard streams.
kernel::SpawnRequest spawn_request(Guest& guest, const Arguments& args);

/// Sees to the end of a child: reaps it when its parent's loop hears of it.
kernel::Result<void> reap(kernel::Process& parent, int pid);

}  // namespace tare::engine::sys
