#pragma once

#include "runtime/guest/engine.hpp"
#include "serve/serve.hpp"

/// The rows of the spawn bench on the guest engine, for `tare guest driver`.
namespace tare::guest_driver {

/// What it does for `hello` and `sample`. The engine of the rows is started by the first of them, and ends
/// with the handlers.
serve::Handlers handlers(const guest::EngineOptions& options);

/// Answers the lines of stdin on stdout until `bye` or their end.
void run(const guest::EngineOptions& options);

}  // namespace tare::guest_driver
