#pragma once

#include "lab/bench/spawn/run.hpp"
#include "run_command.hpp"

namespace tare::cli {

/// What every command that runs the spawn bench takes: --pin, --seed, --timeout, --node.
void add_place_options(CLI::App& app, spawn::RawOptions& raw);

/// --target of the spawn bench.
void add_spawn_target(CLI::App& app, spawn::RawOptions& raw);

/// Measures, reports and returns the exit code.
int run_spawn(const spawn::RawOptions& raw, const OutputOptions& output, Context& context);

}  // namespace tare::cli
