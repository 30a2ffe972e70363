#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "base/file.hpp"
#include "cli.hpp"
#include "lab/gate/gate.hpp"
#include "lab/gate/gate_github.hpp"
#include "lab/gate/gate_junit.hpp"
#include "lab/gate/gate_markdown.hpp"
#include "lab/gate/gate_table.hpp"
#include "lab/verdict/calibration.hpp"
#include "outputs.hpp"

namespace tare::cli {
namespace {

namespace fs = std::filesystem;

struct GateFlags {
  std::string run;
  std::optional<std::string> budgets;
  std::optional<std::string> baseline;
  std::optional<std::string> output;
  std::optional<std::string> markdown;
  std::optional<std::string> junit;
  bool strict = false;
  bool across_machines = false;
  bool json = false;
  bool github = false;
};

/// Throws Error(usage) for outputs that could not be written, or that would overwrite each other or what is
/// read, and for a run that would be held against itself.
void check_files(const GateFlags& flags, const std::string& budgets) {
  std::vector<NamedFile> inputs{{"the run", flags.run}, {"the budgets", budgets}};
  if (flags.baseline) {
    if (same_file(*flags.baseline, flags.run))
      throw Error(ErrorCode::usage, fmt::format("--baseline is the run itself, {}", flags.run),
                  "it would never be slower", "name an earlier run");
    inputs.push_back({"the baseline", *flags.baseline});
  }
  std::vector<NamedFile> files;
  if (flags.output) files.push_back({"--output", *flags.output});
  if (flags.markdown) files.push_back({"--markdown", *flags.markdown});
  if (flags.junit) files.push_back({"--junit", *flags.junit});
  check_outputs(files, inputs);
}

/// Adds the gate to the summary of the workflow's step, as far as there is room.
void append_summary(const gate::GateDocument& gate) {
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  if (path == nullptr || *path == '\0') return;
  std::error_code none;
  if (fs::exists(path, none) && !fs::is_regular_file(path, none)) {
    throw Error(ErrorCode::failed, fmt::format("cannot write {}", path), "not a regular file",
                "it is $GITHUB_STEP_SUMMARY");
  }
  const std::uintmax_t used = fs::file_size(path, none);
  const std::size_t room =
      none ? gate::largest_summary
           : gate::largest_summary - std::min<std::uintmax_t>(used, gate::largest_summary);
  std::ofstream summary(path, std::ios::app | std::ios::binary);
  summary << gate::gate_markdown(gate, room) << std::flush;
  if (!summary)
    throw Error(ErrorCode::failed, fmt::format("cannot write {}", path), "", "it is $GITHUB_STEP_SUMMARY");
}

/// Files first: a reader of stdout that went away takes none of them away.
void write(const gate::GateDocument& gate, const GateFlags& flags, Context& context) {
  Outputs outputs;
  if (flags.output) outputs.write(*flags.output, json::pretty(gate));
  if (flags.markdown) outputs.write(*flags.markdown, gate::gate_markdown(gate));
  if (flags.junit) outputs.write(*flags.junit, gate::gate_junit(gate));
  const report::TerminalFacts terminal = context.err.facts();
  context.err.write(gate::gate_table(gate, terminal.width, terminal.colour));
  if (flags.json) write_stdout(json::pretty(gate));
  if (flags.github) {
    write_stdout(gate::gate_annotations(gate));
    append_summary(gate);
  }
  outputs.finish();
}

int exit_code_of(const gate::GateDocument& gate, const GateFlags& flags, Context& context) {
  if (gate.counts.fail + gate.counts.unmeasured > 0) return exit_budget_failed;
  if (gate.counts.inconclusive == 0) return exit_ok;
  if (flags.strict) return exit_budget_inconclusive;
  context.err.write(fmt::format("tare: warning: {} inconclusive (with --strict that is exit 4)\n",
                                gate.counts.inconclusive == 1
                                    ? std::string("a figure is")
                                    : fmt::format("{} figures are", gate.counts.inconclusive)));
  return exit_ok;
}

int run_gate(const GateFlags& flags, Context& context) {
  if (flags.json && flags.github)
    throw Error(ErrorCode::usage, "--json and --github both write to standard output", "",
                "use --output FILE for the JSON");
  const std::string budgets_path = flags.budgets.value_or("tare.toml");
  check_files(flags, budgets_path);
  const std::vector<gate::BudgetSpec> budgets = gate::load_budgets(budgets_path);
  const report::Document run = report::load(flags.run);
  std::optional<report::Document> base;
  if (flags.baseline) base = report::load(*flags.baseline);
  gate::GateOptions options;
  options.machines = flags.across_machines ? verdict::Machines::may_differ : verdict::Machines::must_match;
  options.calibrations = verdict::calibrations_for(run, verdict::calibration_file());
  options.seed = run.seed;

  std::optional<verdict::Source> baseline;
  if (base) baseline = verdict::Source{*flags.baseline, {}, &*base};
  const gate::GateDocument gate = gate::evaluate(budgets, {flags.run, {}, &run}, baseline, options);
  write(gate, flags, context);
  return exit_code_of(gate, flags, context);
}

}  // namespace

void add_gate(CLI::App& app, Context& context) {
  auto flags = std::make_shared<GateFlags>();
  CLI::App* gate =
      app.add_subcommand("gate", "Hold a run to its budgets: pass, fail, or say what is missing");
  gate->add_option("RUN", flags->run, "The run document to judge")->required();
  add_text(*gate, "--budgets", flags->budgets, "The budgets (default tare.toml)", "FILE");
  add_text(*gate, "--baseline", flags->baseline, "An earlier run document, for relative budgets", "RUN");
  gate->add_flag("--strict", flags->strict, "Exit 4 when a budget is inconclusive, instead of a warning");
  gate->add_flag("--across-machines", flags->across_machines,
                 "Judge relative budgets although run and baseline are of different machines");
  gate->add_flag("--json", flags->json, "The gate document on stdout, and nothing else there");
  add_text(*gate, "--output", flags->output, "Also write the gate document", "FILE");
  add_text(*gate, "--markdown", flags->markdown, "Also write the report as Markdown", "FILE");
  add_text(*gate, "--junit", flags->junit, "Also write the results as JUnit XML", "FILE");
  gate->add_flag("--github", flags->github,
                 "Annotations for GitHub on stdout, and the report in the summary of the step");
  gate->footer(
      "Exit codes: 0 all passed, or inconclusive without --strict · 2 bad input · 3 a budget failed or was\n"
      "unmeasured · 4 a budget was inconclusive, with --strict\n"
      "\n"
      "Examples:\n"
      "  tare gate out/run.json\n"
      "  tare gate --budgets tare.toml --baseline main.json out/run.json\n"
      "  tare gate --baseline main.json --github --junit out/gate.xml out/run.json");
  gate->callback(
      [flags, &context] { context.action = [flags, &context] { return run_gate(*flags, context); }; });
}

}  // namespace tare::cli
