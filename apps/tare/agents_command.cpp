#include "agents_command.hpp"

#include <memory>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "lab/report/progress.hpp"

namespace tare::cli {
namespace {

constexpr std::string_view agents_file = "out/agents.json";

void add_flags(CLI::App& app, agents_bench::RawOptions& raw) {
  add_text(app, "--targets", raw.targets, "Registries by name (default embedded,node; see `tare targets`)",
           "LIST");
  add_extra_target(app, raw.extra_targets,
                   "name=driver:COMMAND, or name=copy:TARGET for a built-in one a second time");
  add_text(app, "--scenarios", raw.scenarios, "Only these scenarios, in this order (default: all)", "LIST");
  add_text(app, "--runs", raw.runs, "Samples of each worker, 1 to 100 (default 10)", "N");
  add_text(app, "--warmup", raw.warmup, "Samples before them that do not count, 0 to 20 (default 1)", "N");
  add_text(app, "--fanout", raw.fanout, "Runs at once, a row each, 1 to 256 (default 1,8,32,64)", "LIST");
  add_text(app, "--sweep-rows", raw.sweep_rows,
           "Children to sweep and dedupe, with 3 generations each, 1 to 4096 (default 32,128,512)", "LIST");
  add_text(app, "--scale-rows", raw.scale_rows,
           "Also sweep, dedupe and reopen registries of so many rows, 3 to 1000000 (default none)", "LIST");
  add_text(app, "--processes", raw.processes,
           "Fresh workers of each row and target (default 1; from 6 on they are compared in pairs)", "K");
  add_text(app, "--state", raw.state, "An empty folder for what is kept on disk (default: a fresh one)",
           "DIR");
  add_text(app, "--timeout", raw.timeout, "Limit of one worker, 1 to 3600 (default 300)", "SECONDS");
  add_seed_and_node(app, raw.seed, raw.node);
  app.add_flag("--quick", raw.quick,
               "Fan-outs 1 and 64, 512 children, short mixed loads, 3 crashes: a first look");
}

}  // namespace

int run_agents(const agents_bench::RawOptions& raw, const OutputOptions& output, Context& context) {
  agents_bench::Request request;
  request.command = context.command;
  if (output.resume) {
    request.before = report::load(*output.resume);
    request.options = agents_bench::resumed_options(*request.before, raw, *output.resume);
  } else {
    request.options = agents_bench::resolve(raw);
  }
  const std::filesystem::path path = document_path(output, agents_file);
  request.save = [&](const report::Document& document) { report::save(document, path); };

  const Interrupt interrupt;
  report::Progress progress(context.err, context.clock);
  const bench::Result result = agents_bench::run(request, {context.clock, interrupt, progress});
  progress.finish();
  return report_run(result, path, output, fmt::format("`tare agents --resume {}` goes on", path.string()),
                    context);
}

void add_agents(CLI::App& app, Context& context) {
  struct Flags {
    agents_bench::RawOptions raw;
    OutputOptions output;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* agents = app.add_subcommand(
      "agents", "What does it cost to admit, spawn, register, settle, sweep and dedupe child agents?");
  add_flags(*agents, flags->raw);
  add_output_options(*agents, flags->output, agents_file);
  add_text(*agents, "--resume", flags->output.resume, "Go on with an interrupted run", "FILE");
  agents->footer(
      "Each row has a fresh worker process on each target. The first worker that fails, or gives a wrong "
      "answer,\n"
      "ends the run.\n"
      "\n"
      "Examples:\n"
      "  tare agents --quick\n"
      "  tare agents --targets embedded,node,python --fanout 64 --runs 20 --processes 6\n"
      "  tare agents --scenarios restartScale --scale-rows 1000,1000000\n"
      "  tare agents --target mine=driver:./my_registry --json > agents.json\n"
      "  tare agents --resume out/agents.json");
  agents->require_subcommand(0, 1);
  agents->callback([flags, &context, agents] {
    if (!agents->get_subcommands().empty()) {  // it has left its own action
      const auto given = agents->get_options([](const CLI::Option* option) { return option->count() > 0; });
      if (!given.empty())
        throw Error(ErrorCode::usage,
                    fmt::format("`tare agents driver` takes no flags, got {}", given.front()->get_name()));
      return;
    }
    context.action = [flags, &context] { return run_agents(flags->raw, flags->output, context); };
  });
  add_agents_driver(*agents, context);
}

}  // namespace tare::cli
