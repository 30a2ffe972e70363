#include "spawn_command.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "lab/bench/spawn/defects.hpp"
#include "lab/bench/spawn/run.hpp"
#include "lab/report/bench_table.hpp"
#include "lab/report/markdown.hpp"
#include "lab/report/progress.hpp"
#include "lab/verdict/calibrate.hpp"
#include "lab/verdict/calibration.hpp"
#include "outputs.hpp"

namespace tare::cli {
namespace {

std::optional<std::string> environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

/// Says after an interruption what is where and how to go on.
std::string interrupted_line(const spawn::Result& result, const std::filesystem::path& output) {
  return fmt::format("tare: interrupted {}; {} holds what was measured, `tare spawn --resume {}` goes on\n",
                     result.position, output.string(), output.string());
}

/// A run without one row is no success, unless a known defect of a pinned peer is the reason of one of them.
bool nothing_measured(const report::Document& document) {
  return std::ranges::none_of(document.rows, [](const report::Row& row) {
    return row.status == report::RowStatus::ok || row.reason.value_or("").starts_with(spawn::known_defect);
  });
}

/// What `tare calibrate` found on this machine. A damaged cache does not cost a run that was measured.
void attach_calibrations(report::Document& document) {
  try {
    verdict::attach_calibrations(document, verdict::calibrations_for(document, verdict::calibration_file()));
  } catch (const Error& error) {
    document.findings.push_back(
        {report::FindingLevel::warn, {}, {}, fmt::format("{} ({})", error.what(), error.why())});
  }
}

}  // namespace

void add_output_options(CLI::App& app, OutputOptions& output) {
  add_text(app, "--output", output.output, "Where the run document goes (default out/run.json)", "FILE");
  add_text(app, "--markdown", output.markdown, "Also write the report as Markdown", "FILE");
  app.add_flag("--json", output.json, "The run document on stdout, and nothing else there");
}

void add_extra_target(CLI::App& app, spawn::RawOptions& raw) {
  app.add_option(
         "--target", raw.extra_targets,
         "One more target beside those of --targets: name=driver:COMMAND, name=cmd:COMMAND {script}, or "
         "name=copy:TARGET for a built-in one a second time")
      ->type_name("NAME=KIND:COMMAND")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_place_options(CLI::App& app, spawn::RawOptions& raw) {
  add_text(app, "--pin", raw.pin, "Run everything on this CPU", "CPU");
  add_text(app, "--seed", raw.seed, "Seed of the lane order and the nonces (default 42)", "N");
  add_text(app, "--timeout", raw.timeout, "Limit of one operation, 1 to 3600 (default 30)", "SECONDS");
  add_text(app, "--node", raw.node,
           "Node.js of the reference lane: PREFIX/bin/node (default: the pinned one)", "PREFIX");
}

int run_spawn(const spawn::RawOptions& raw, const OutputOptions& output, Context& context) {
  spawn::Request request;
  request.command = context.command;
  if (output.resume) {
    request.before = report::load(*output.resume);
    request.options = spawn::resumed_options(*request.before, raw, *output.resume);
  } else {
    request.options = spawn::resolve(raw, environment);
  }
  const std::filesystem::path path = output.output.value_or(output.resume.value_or("out/run.json"));
  std::vector<NamedFile> files{{"--output", path}};
  if (output.markdown) files.push_back({"--markdown", *output.markdown});
  check_outputs(files, {});
  request.save = [&](const report::Document& document) { report::save(document, path); };

  const Interrupt interrupt;
  report::Progress progress(context.err, context.clock);
  spawn::Result result = spawn::run(request, {context.clock, interrupt, progress});
  progress.finish();
  attach_calibrations(result.document);

  Outputs outputs;
  const std::string json = report::to_json(result.document);
  outputs.write(path, json);
  if (output.markdown) outputs.write(*output.markdown, report::markdown(result.document));
  const report::TerminalFacts terminal = context.err.facts();
  context.err.write(report::render(result.document, {terminal.width, terminal.colour, outputs.wrote()}));
  if (output.json) write_stdout(json);
  outputs.finish();
  if (result.signal) {
    context.err.write(interrupted_line(result, path));
    return *result.signal == SIGINT ? exit_interrupted : exit_terminated;
  }
  return result.document.invariants.ok && !nothing_measured(result.document) ? exit_ok : exit_failed;
}

void add_spawn(CLI::App& app, Context& context) {
  struct Flags {
    spawn::RawOptions raw;
    OutputOptions output;
  };
  auto flags = std::make_shared<Flags>();
  spawn::RawOptions& raw = flags->raw;
  CLI::App* spawn =
      app.add_subcommand("spawn", "What does it cost to start, feed, wait for and reap a process?");
  add_text(*spawn, "--targets", raw.targets, "Targets by name (default native,sh,node; see `tare targets`)",
           "LIST");
  add_extra_target(*spawn, raw);
  add_text(*spawn, "--rows", raw.rows, "Only these rows, in this order (default: all)", "LIST");
  add_text(*spawn, "--iterations", raw.iterations,
           "Samples of each row and process, 1 to 100000 (default 200)", "N");
  add_text(*spawn, "--warmup", raw.warmup, "Rounds before them that are no samples (default 20)", "N");
  add_text(*spawn, "--processes", raw.processes, "Repeat each row in K fresh drivers (default 1)", "K");
  add_text(*spawn, "--fanout", raw.fanout, "Processes at once, a row each (default 1,8,32)", "LIST");
  add_place_options(*spawn, raw);
  spawn->add_flag("--quick", raw.quick, "20 samples, 2 warm-ups, at most 8 processes at once");
  spawn->add_flag("--trace", raw.trace,
                  "Also trace the life of a process, in a separate arm, where a target can");
  add_output_options(*spawn, flags->output);
  add_text(*spawn, "--resume", flags->output.resume, "Go on with an interrupted run", "FILE");
  spawn->footer(
      "Environment: BENCH_ITERATIONS, BENCH_WARMUP, BENCH_PROCESS_LIFECYCLE_TRACE=1,\n"
      "BENCH_PROCESS_LIFECYCLE_SKIP_EXTRA_ROWS=1; a flag beats the environment.\n"
      "\n"
      "Examples:\n"
      "  tare spawn --quick\n"
      "  tare spawn --targets native,node --rows node_exit_1,fanout_8 --pin 1\n"
      "  tare spawn --target 'docker=cmd:docker run --rm node:24 node -e {script}'\n"
      "  tare spawn --target mine=driver:./my_driver --json > run.json\n"
      "  tare spawn --resume out/run.json");
  spawn->callback([flags, &context] {
    context.action = [flags, &context] { return run_spawn(flags->raw, flags->output, context); };
  });
}

}  // namespace tare::cli
