#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli.hpp"
#include "lab/bench/common/life.hpp"

/// What every command that measures has in common.
namespace tare::cli {

/// Where a run's results go.
struct OutputOptions {
  std::optional<std::string> output;  ///< the run document
  std::optional<std::string> markdown;
  std::optional<std::string> resume;  ///< the document of an interrupted run
  bool json = false;                  ///< the document on stdout
};

/// --output, --markdown and --json. `file` is where the document goes by default.
void add_output_options(CLI::App& app, OutputOptions& output, std::string_view file);

/// --target, which may be given several times. `kinds` says what it takes.
void add_extra_target(CLI::App& app, std::vector<std::string>& extra, const std::string& kinds);

/// --seed and --node.
void add_seed_and_node(CLI::App& app, std::optional<std::string>& seed, std::optional<std::string>& node);

/// A variable of this process's environment; an empty one is not set.
std::optional<std::string> environment(std::string_view name);

/// Where the document goes: --output, else the interrupted run's own file, else `fallback`. Throws
/// Error(usage) when an output cannot be written or is named twice.
std::filesystem::path document_path(const OutputOptions& output, std::string_view fallback);

/// What `tare calibrate` found on this machine. A damaged cache does not cost a run that was measured.
void attach_calibrations(report::Document& document);

/// Writes the document and the Markdown, prints the tables and, with --json, the document. Then says what
/// cut the run short: `how_to_go_on` ends the sentence "… holds what was measured, ". Returns the exit code.
int report_run(const bench::Result& result, const std::filesystem::path& path, const OutputOptions& output,
               const std::string& how_to_go_on, Context& context);

/// The end of that: says what cut the run short, and returns the exit code.
int end_run(const bench::Result& result, const std::filesystem::path& path, const std::string& how_to_go_on,
            Context& context);

}  // namespace tare::cli
