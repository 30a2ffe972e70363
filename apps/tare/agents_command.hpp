#pragma once

#include "lab/bench/agents/run.hpp"
#include "run_command.hpp"

namespace tare::cli {

/// Measures, reports and returns the exit code.
int run_agents(const agents_bench::RawOptions& raw, const OutputOptions& output, Context& context);

/// `tare agents driver`: the built-in registry as a driver. Declared as a subcommand of `agents`.
void add_agents_driver(CLI::App& agents, Context& context);

}  // namespace tare::cli
