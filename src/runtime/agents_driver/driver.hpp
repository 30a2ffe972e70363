#pragma once

#include "serve/serve.hpp"

namespace tare::agents_driver {

/// What it does for `hello` and `sample`.
serve::Handlers handlers();

/// The driver of the built-in registry: answers the lines of stdin on stdout until `bye` or their end.
void run();

}  // namespace tare::agents_driver
