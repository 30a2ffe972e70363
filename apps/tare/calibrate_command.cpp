#include <algorithm>
#include <csignal>
#include <memory>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/flag.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "cli.hpp"
#include "lab/bench/spawn/run.hpp"
#include "lab/report/layout.hpp"
#include "lab/report/progress.hpp"
#include "lab/report/provenance.hpp"
#include "lab/verdict/calibrate.hpp"
#include "lab/verdict/calibration.hpp"
#include "outputs.hpp"
#include "spawn_command.hpp"

namespace tare::cli {
namespace {

constexpr const char* default_iterations = "10";
constexpr const char* default_warmup = "1";

struct CalibrateFlags {
  spawn::RawOptions raw;
  std::optional<std::string> output;
  bool json = false;
};

std::optional<std::string> no_environment(std::string_view) {
  return std::nullopt;
}

/// The same lanes a second time, each beside its twin.
std::vector<verdict::Twins> double_lanes(spawn::Options& options) {
  std::vector<verdict::Twins> twins;
  std::vector<std::string> targets;
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::any_of(
        options.targets, [&](const std::string& text) { return text.substr(0, text.find('=')) == name; });
  };
  for (const std::string& text : options.targets) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string again = name + "_again";
    if (is_taken(again))
      throw Error(ErrorCode::usage, fmt::format("target name '{}' is taken", again),
                  "the twin of " + name + " is called so");
    targets.push_back(text);
    targets.push_back(again + (equals == std::string::npos ? "=copy:" + name : text.substr(equals)));
    twins.push_back({name, again});
  }
  options.targets = std::move(targets);
  return twins;
}

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.2g} %", *share * 100) : "n/a";
}

std::string table(const std::vector<verdict::Detectable>& lines, const report::TerminalFacts& terminal) {
  report::Table table;
  table.title = "smallest change that can be told from none";
  table.label_columns = 3;
  table.lanes = {{"lanes of one run", {{"1 process"}}}, {"two runs", {{"4 processes"}, {"10 processes"}}}};
  for (const verdict::Detectable& line : lines) {
    table.lines.push_back({{line.target, line.row, line.metric + " " + line.quantile},
                           {{percent(line.paired)}, {percent(line.unpaired_4)}, {percent(line.unpaired_10)}},
                           fmt::format("{} × n={}", line.processes, line.iterations)});
  }
  return report::lay_out(table, terminal.width, terminal.colour);
}

int calibrate(CalibrateFlags flags, Context& context) {
  spawn::RawOptions& raw = flags.raw;
  const bool only_extra = !raw.targets && !raw.extra_targets.empty();
  if (!raw.targets) raw.targets = "node";
  if (!raw.iterations) raw.iterations = default_iterations;
  if (!raw.warmup) raw.warmup = default_warmup;
  if (!raw.processes) raw.processes = std::to_string(verdict::calibration_processes);
  raw.quick = true;  // which rows, where none are named

  spawn::Request request;
  request.command = context.command;
  request.options = spawn::resolve(raw, no_environment);
  if (only_extra) request.options.targets.erase(request.options.targets.begin());
  if (request.options.processes < verdict::fewest_calibration_processes) {
    throw Error(ErrorCode::usage,
                fmt::format("--processes must be at least {} to calibrate, got {}",
                            verdict::fewest_calibration_processes, request.options.processes));
  }
  const std::vector<verdict::Twins> twins = double_lanes(request.options);
  const std::filesystem::path cache = verdict::calibration_file();
  verdict::check_cache(cache);
  if (flags.output) check_outputs(std::vector<NamedFile>{{"--output", *flags.output}}, {});
  request.save = [&](const report::Document& document) {
    if (flags.output) report::save(document, *flags.output);
  };

  const Interrupt interrupt;
  report::Progress progress(context.err, context.clock);
  const bench::Result result = spawn::run(request, {context.clock, interrupt, progress});
  progress.finish();
  if (result.signal) {
    context.err.write(fmt::format("tare: interrupted {}; nothing was calibrated\n", result.position));
    return *result.signal == SIGINT ? exit_interrupted : exit_terminated;
  }

  const std::vector<report::Calibration> entries = verdict::calibrate(result.document, twins);
  if (!entries.empty()) verdict::save_calibrations(result.document, entries, cache);
  Outputs outputs;
  if (flags.output) outputs.write(*flags.output, report::to_json(result.document));
  const report::TerminalFacts terminal = context.err.facts();
  if (entries.empty() && result.document.invariants.ok) {
    throw Error(ErrorCode::failed, "nothing was calibrated",
                result.document.rows.empty() ? "" : result.document.rows.front().reason.value_or(""));
  }
  const std::vector<verdict::Detectable> lines = verdict::detectable(entries);
  context.err.write(report::paragraph("host", report::host_line(result.document), terminal.width));
  context.err.write("\n" + table(lines, terminal) + "\n");
  for (const std::string& failure : result.document.invariants.failures)
    context.err.write(
        report::paragraph("failed", failure, terminal.width, terminal.colour, report::Tone::bad));
  if (report::noise_of(result.document).level != measure::NoiseLevel::quiet) {
    context.err.write(report::paragraph(
        "noise",
        "the machine was not quiet: other work is in these figures, so calibrate again when it is over",
        terminal.width, terminal.colour, report::Tone::warn));
  }
  if (!entries.empty()) context.err.write(report::paragraph("wrote", cache.string(), terminal.width));
  if (flags.json) write_stdout(json::pretty(lines));
  outputs.finish();
  return result.document.invariants.ok && !entries.empty() ? exit_ok : exit_failed;
}

}  // namespace

void add_calibrate(CLI::App& app, Context& context) {
  auto flags = std::make_shared<CalibrateFlags>();
  CLI::App* command =
      app.add_subcommand("calibrate", "How small a change can be seen here? Runs targets against themselves");
  spawn::RawOptions& raw = flags->raw;
  add_text(*command, "--targets", raw.targets, "Targets by name (default node)", "LIST");
  add_spawn_target(*command, raw);
  add_text(*command, "--rows", raw.rows, "Only these rows (default: those of `tare spawn --quick`)", "LIST");
  add_text(*command, "--iterations", raw.iterations,
           "Samples of each row and process (default 10): as many as your runs have", "N");
  add_text(*command, "--warmup", raw.warmup, "Rounds before them that are no samples (default 1)", "N");
  add_text(*command, "--processes", raw.processes, "Pairs of fresh processes, 6 to 1000 (default 12)", "K");
  add_place_options(*command, raw);
  add_text(*command, "--output", flags->output, "Also keep the run document", "FILE");
  command->add_flag("--json", flags->json, "The table on stdout, as JSON");
  command->footer(
      "The answer is kept in the cache folder. Every run, `tare compare` and `tare gate` use it: a change "
      "within\n"
      "what a target shows against itself is never called one.\n"
      "\n"
      "Examples:\n"
      "  tare calibrate --rows node_exit_1\n"
      "  tare calibrate --targets node,agentos --rows node_exit_1,capture_2b --processes 20");
  command->callback(
      [flags, &context] { context.action = [flags, &context] { return calibrate(*flags, context); }; });
}

}  // namespace tare::cli
