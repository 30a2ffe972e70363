#pragma once

#include <optional>
#include <string>

#include "cli.hpp"
#include "lab/bench/spawn/options.hpp"

namespace tare::cli {

/// Where a run's results go.
struct OutputOptions {
  std::optional<std::string> output;  ///< the run document; default out/run.json
  std::optional<std::string> markdown;
  std::optional<std::string> resume;  ///< the document of an interrupted run
  bool json = false;                  ///< the document on stdout
};

void add_output_options(CLI::App& app, OutputOptions& output);

/// --target, which may be given several times.
void add_extra_target(CLI::App& app, spawn::RawOptions& raw);

/// What every command that measures takes: --pin, --seed, --timeout, --node.
void add_place_options(CLI::App& app, spawn::RawOptions& raw);

/// Measures, reports and returns the exit code.
int run_spawn(const spawn::RawOptions& raw, const OutputOptions& output, Context& context);

}  // namespace tare::cli
