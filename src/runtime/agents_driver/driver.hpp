#pragma once

namespace tare::agents_driver {

/// The driver of the built-in registry: answers the lines of stdin on stdout until `bye` or their end.
void run();

}  // namespace tare::agents_driver
