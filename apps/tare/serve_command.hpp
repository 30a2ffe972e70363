#pragma once

#include "cli.hpp"

namespace tare::cli {

/// `tare serve provider`: the mock model server. Declared as a subcommand of `serve`.
void add_serve_provider(CLI::App& serve, Context& context);

/// `tare serve gateway`: the built-in gateway.
void add_serve_gateway(CLI::App& serve, Context& context);

}  // namespace tare::cli
