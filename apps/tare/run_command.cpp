#include "run_command.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include <fmt/format.h>

#include "lab/bench/common/defects.hpp"
#include "lab/report/bench_table.hpp"
#include "lab/report/markdown.hpp"
#include "lab/verdict/calibrate.hpp"
#include "lab/verdict/calibration.hpp"
#include "outputs.hpp"

namespace tare::cli {
namespace {

/// A run without one row is no success, unless a known defect of a pinned peer is the reason of one of them.
bool nothing_measured(const report::Document& document) {
  return std::ranges::none_of(document.rows, [](const report::Row& row) {
    return row.status == report::RowStatus::ok || row.reason.value_or("").starts_with(bench::known_defect);
  });
}

}  // namespace

void add_output_options(CLI::App& app, OutputOptions& output, std::string_view file) {
  add_text(app, "--output", output.output, fmt::format("Where the run document goes (default {})", file),
           "FILE");
  add_text(app, "--markdown", output.markdown, "Also write the report as Markdown", "FILE");
  app.add_flag("--json", output.json, "The run document on stdout, and nothing else there");
}

void add_extra_target(CLI::App& app, std::vector<std::string>& extra, const std::string& kinds) {
  app.add_option("--target", extra, "One more target beside those of --targets: " + kinds)
      ->type_name("NAME=KIND:COMMAND")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_seed_and_node(CLI::App& app, std::optional<std::string>& seed, std::optional<std::string>& node) {
  add_text(app, "--seed", seed, "Seed of the lane order and the nonces (default 42)", "N");
  add_text(app, "--node", node, "Node.js of the reference lane: PREFIX/bin/node (default: the pinned one)",
           "PREFIX");
}

std::optional<std::string> environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

std::filesystem::path document_path(const OutputOptions& output, std::string_view fallback) {
  const std::filesystem::path path = output.output.value_or(output.resume.value_or(std::string(fallback)));
  std::vector<NamedFile> files{{"--output", path}};
  if (output.markdown) files.push_back({"--markdown", *output.markdown});
  check_outputs(files, {});
  return path;
}

void attach_calibrations(report::Document& document) {
  try {
    verdict::attach_calibrations(document, verdict::calibrations_for(document, verdict::calibration_file()));
  } catch (const Error& error) {
    document.findings.push_back(
        {report::FindingLevel::warn, {}, {}, fmt::format("{} ({})", error.what(), error.why())});
  }
}

int report_run(const bench::Result& result, const std::filesystem::path& path, const OutputOptions& output,
               const std::string& how_to_go_on, Context& context) {
  const report::Document& document = result.document;
  Outputs outputs;
  const std::string json = report::to_json(document);
  outputs.write(path, json);
  if (output.markdown) outputs.write(*output.markdown, report::markdown(document));
  const report::TerminalFacts terminal = context.err.facts();
  context.err.write(report::render(document, {terminal.width, terminal.colour, outputs.wrote()}));
  if (output.json) write_stdout(json);
  outputs.finish();
  return end_run(result, path, how_to_go_on, context);
}

int end_run(const bench::Result& result, const std::filesystem::path& path, const std::string& how_to_go_on,
            Context& context) {
  const report::Document& document = result.document;
  if (result.signal) {
    context.err.write(fmt::format("tare: interrupted {}; {} holds what was measured, {}\n", result.position,
                                  path.string(), how_to_go_on));
    return *result.signal == SIGINT ? exit_interrupted : exit_terminated;
  }
  if (result.failure) {
    context.err.write(fmt::format("tare: {}; {} holds what was measured\n", *result.failure, path.string()));
    return exit_failed;
  }
  return document.invariants.ok && !nothing_measured(document) ? exit_ok : exit_failed;
}

}  // namespace tare::cli
