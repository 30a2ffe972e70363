#include "spawn_command.hpp"

#include <memory>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "lab/driver/registry.hpp"
#include "lab/report/progress.hpp"

namespace tare::cli {
namespace {

constexpr std::string_view spawn_file = "out/run.json";

}  // namespace

void add_spawn_target(CLI::App& app, spawn::RawOptions& raw) {
  add_extra_target(app, raw.extra_targets,
                   "name=driver:COMMAND, name=cmd:COMMAND {script}, or name=copy:TARGET for a built-in one a "
                   "second time");
}

void add_place_options(CLI::App& app, spawn::RawOptions& raw) {
  add_text(app, "--pin", raw.pin, "Run everything on this CPU", "CPU");
  add_text(app, "--timeout", raw.timeout, "Limit of one operation, 1 to 3600 (default 30)", "SECONDS");
  add_seed_and_node(app, raw.seed, raw.node);
}

int run_spawn(const spawn::RawOptions& raw, const OutputOptions& output, Context& context) {
  spawn::Request request;
  request.command = context.command;
  if (output.resume) {
    request.before = report::load(*output.resume);
    request.options = spawn::resumed_options(*request.before, raw, *output.resume);
  } else {
    spawn::RawOptions with_defaults = raw;
    with_defaults.default_targets = driver::default_targets({});
    request.options = spawn::resolve(with_defaults, environment);
  }
  const std::filesystem::path path = document_path(output, spawn_file);
  request.save = [&](const report::Document& document) { report::save(document, path); };

  const Interrupt interrupt;
  report::Progress progress(context.err, context.clock);
  bench::Result result = spawn::run(request, {context.clock, interrupt, progress});
  progress.finish();
  attach_calibrations(result.document);
  return report_run(result, path, output, fmt::format("`tare spawn --resume {}` goes on", path.string()),
                    context);
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
  add_text(*spawn, "--targets", raw.targets,
           "Targets by name (default native,sh,node,guest; see `tare targets`)", "LIST");
  add_spawn_target(*spawn, raw);
  add_text(*spawn, "--rows", raw.rows, "Only these rows, in this order (default: all)", "LIST");
  add_text(*spawn, "--iterations", raw.iterations,
           "Samples of each row and process, 1 to 100000 (default 200)", "N");
  add_text(*spawn, "--warmup", raw.warmup, "Rounds before them that are no samples (default 20)", "N");
  add_text(*spawn, "--processes", raw.processes, "Repeat each row in K fresh drivers (default 1)", "K");
  add_text(*spawn, "--fanout", raw.fanout, "Processes at once, a row each (default 1,8,32)", "LIST");
  add_text(*spawn, "--guests", raw.guests,
           "Processes alive while a runtime's memory is read, a row each (default 1,4,16,64)", "LIST");
  add_place_options(*spawn, raw);
  spawn->add_flag("--quick", raw.quick,
                  "20 samples, 2 warm-ups, at most 8 processes at once, no growth_1000");
  spawn->add_flag("--trace", raw.trace,
                  "Also trace the life of a process, in a separate arm, where a target can");
  add_output_options(*spawn, flags->output, spawn_file);
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
