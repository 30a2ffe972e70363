#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <system_error>

#include "base/fd.hpp"
#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "lab/bench/import/run.hpp"
#include "lab/bench/import/state.hpp"
#include "lab/report/bench_table.hpp"
#include "lab/report/import_export.hpp"
#include "lab/report/import_markdown.hpp"
#include "lab/report/progress.hpp"
#include "lab/verdict/import_baseline.hpp"
#include "outputs.hpp"
#include "run_command.hpp"

namespace tare::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* default_output_dir = "out/import";

struct ImportFlags {
  import_bench::RawOptions raw;
  std::optional<std::string> baseline;
  std::optional<std::string> output_dir;
  std::optional<std::string> exported;
  bool resume = false;
  bool fresh = false;
  bool json = false;
};

/// Where everything goes.
struct ImportFiles {
  fs::path report;
  fs::path markdown;
  fs::path state;
};

struct Baseline {
  std::string source;
  report::Document document;
};

ImportFiles files_of(const ImportFlags& flags) {
  const fs::path folder = flags.output_dir.value_or(default_output_dir);
  if (folder.empty()) throw Error(ErrorCode::usage, "--output-dir needs a folder, got ''");
  ImportFiles files{folder / "report.json", folder / "report.md", folder / import_bench::state_name};
  std::vector<NamedFile> outputs{{"report.json in --output-dir", files.report},
                                 {"report.md in --output-dir", files.markdown},
                                 {fmt::format("{} in --output-dir", import_bench::state_name), files.state}};
  if (flags.exported) outputs.push_back({"--export", *flags.exported});
  std::vector<NamedFile> inputs;
  if (flags.baseline) inputs.push_back({"the baseline", *flags.baseline});
  check_outputs(outputs, inputs);
  return files;
}

std::optional<Baseline> baseline_of(const ImportFlags& flags) {
  if (!flags.baseline) return std::nullopt;
  return Baseline{*flags.baseline,
                  verdict::import_baseline_of(report::load(*flags.baseline), *flags.baseline)};
}

/// A baseline that has nothing of what is to be measured is somebody's mistake, known before anything is.
void check_shares_rows(const Baseline& baseline, const import_bench::Options& options) {
  for (const report::Row& row : baseline.document.rows) {
    if (std::ranges::find(options.rows, row.row) == options.rows.end()) continue;
    for (const std::string& target : options.targets) {
      if (target.substr(0, target.find('=')) == row.target) return;
    }
  }
  throw Error(ErrorCode::input, fmt::format("{} has no row of this run", baseline.source),
              "neither its scenarios nor its targets are asked for",
              "name others with --scenarios or --targets");
}

/// One run at a time in a folder: another would take the state of this one for that of a run that was cut
/// short. A folder that is made for it and stays empty goes again.
class FolderLock {
 public:
  explicit FolderLock(fs::path folder) : folder_(std::move(folder)) {
    std::error_code error;
    made_ = fs::create_directories(folder_, error);
    lock_ = Fd(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!lock_) refuse(errno_text(errno));
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      refuse("another run goes on there");
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() {
    std::error_code ignored;
    if (made_) fs::remove(folder_, ignored);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::usage, fmt::format("cannot run in {}", folder_.string()), why,
                "name another --output-dir");
  }

  fs::path folder_;
  bool made_ = false;
  Fd lock_;
};

import_bench::StateUse state_use(const ImportFlags& flags) {
  if (flags.resume && flags.fresh) throw Error(ErrorCode::usage, "--resume and --fresh exclude each other");
  if (flags.fresh) return import_bench::StateUse::ignore;
  return flags.resume ? import_bench::StateUse::demand : import_bench::StateUse::if_it_fits;
}

report::ExportFacts export_facts(const Context& context) {
  report::ExportFacts facts;
  const auto since = context.clock.wall().time_since_epoch();
  facts.generated_at_unix_ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  std::error_code ignored;
  facts.root = fs::current_path(ignored).string();
  utsname name{};
  ::uname(&name);
  facts.arch = name.machine;
  return facts;
}

/// The artifacts, then the state's end, then the tables and what was asked for on stdout.
int report_import(bench::Result result, const ImportFlags& flags, const ImportFiles& files,
                  const std::optional<Baseline>& baseline, Context& context) {
  report::Document& document = result.document;
  std::optional<report::ImportBaseline> comparison;
  if (baseline) {
    comparison = verdict::compare_import(baseline->document, baseline->source, document);
    document.comparisons.insert(document.comparisons.end(), comparison->comparisons.begin(),
                                comparison->comparisons.end());
    for (report::Finding& finding : verdict::baseline_findings(baseline->document, *comparison, document))
      document.findings.push_back(std::move(finding));
  }
  const report::ImportBaseline* compared = comparison ? &*comparison : nullptr;
  Outputs outputs;
  const std::string json = report::to_json(document);
  outputs.write(files.report, json);
  outputs.write(files.markdown, report::import_markdown(document, compared));
  if (flags.exported) {
    const json::Value exported = report::import_export(document, compared, export_facts(context));
    outputs.write(*flags.exported, json::pretty(exported));
  }
  std::error_code ignored;
  const bool kept = outputs.wrote().size() == (flags.exported ? 3U : 2U);
  if (document.complete && kept) fs::remove(files.state, ignored);
  const report::TerminalFacts terminal = context.err.facts();
  context.err.write(report::render(document, {terminal.width, terminal.colour, outputs.wrote()}));
  if (flags.json) write_stdout(json);
  outputs.finish();
  return end_run(result, files.report, "`tare import` with the same flags goes on", context);
}

int run_import(const ImportFlags& flags, Context& context) {
  const auto say = [&](const std::string& line) { context.err.write(fmt::format("tare: {}\n", line)); };
  import_bench::Request request;
  request.command = context.command;
  request.options = import_bench::resolve(flags.raw);
  const import_bench::StateUse use = state_use(flags);
  const std::optional<Baseline> baseline = baseline_of(flags);
  if (baseline) check_shares_rows(*baseline, request.options);
  const ImportFiles files = files_of(flags);
  request.before = import_bench::find_state(files.state, request.options, use, say);
  const FolderLock lock(files.state.parent_path());
  request.say = say;
  request.save = [&](const report::Document& document) { report::save(document, files.state); };
  request.on_other_targets = [&](const Error& error) {
    if (use == import_bench::StateUse::demand)
      throw Error(ErrorCode::input, fmt::format("cannot resume {}", files.state.string()), error.why(),
                  "--fresh starts anew");
    say(import_bench::ignored(files.state, import_bench::why_of(error)));
  };

  const Interrupt interrupt;
  report::Progress progress(context.err, context.clock);
  bench::Result result = import_bench::run(request, {context.clock, interrupt, progress});
  progress.finish();
  return report_import(std::move(result), flags, files, baseline, context);
}

void add_import_flags(CLI::App& app, ImportFlags& flags) {
  import_bench::RawOptions& raw = flags.raw;
  add_text(app, "--targets", raw.targets, "Targets by name (default node,guest; see `tare targets`)", "LIST");
  add_extra_target(app, raw.extra_targets,
                   "name=driver:COMMAND, or name=copy:TARGET for a built-in one a second time");
  add_text(app, "--scenarios", raw.scenarios,
           "Only these rows, in this order; transport stands for its three (default: all)", "LIST");
  add_text(app, "--iterations", raw.iterations, "Samples of each worker, 1 to 1000 (default 10)", "N");
  add_text(app, "--warmup", raw.warmup, "Samples before them that do not count, 0 to 1000 (default 1)", "N");
  add_text(app, "--processes", raw.processes,
           "Fresh workers of each row and target (default 1; from 6 on they are compared in pairs)", "K");
  add_text(app, "--timeout", raw.timeout, "Limit of one sample, 1 to 3600 (default 60)", "SECONDS");
  add_seed_and_node(app, raw.seed, raw.node);
  app.add_flag("--quick", raw.quick, "3 samples of nine rows: a first look");
  add_text(app, "--baseline", flags.baseline, "Compare with an earlier report.json of this bench", "FILE");
  add_text(app, "--output-dir", flags.output_dir,
           fmt::format("Where report.json, report.md and the run state go (default {})", default_output_dir),
           "DIR");
  app.add_flag("--resume", flags.resume, "Go on with the run state, or do not run");
  app.add_flag("--fresh", flags.fresh, "Start anew, whatever run state there is");
  app.add_flag("--json", flags.json, "The run document on stdout, and nothing else there");
  add_text(app, "--export", flags.exported, "Also write the older artifact format, version 5, as JSON",
           "FILE");
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
  auto flags = std::make_shared<ImportFlags>();
  CLI::App* command =
      app.add_subcommand("import", "What does it cost to boot an isolate and to load code into it?");
  add_import_flags(*command, *flags);
  command->footer(
      "Each row has a fresh worker process on each target. After each row what was measured is kept in\n"
      "run-state.json, and a run that was cut short goes on there when it is started again with the same "
      "flags.\n"
      "Rows that load packages need them: `tare targets install import`.\n"
      "\n"
      "Examples:\n"
      "  tare import --quick\n"
      "  tare import --iterations 20 --processes 6 --targets node,guest,bun\n"
      "  tare import --scenarios transport,isolate-startup,cold-local-import\n"
      "  tare import --baseline base/report.json --output-dir out/new\n"
      "  tare import --resume");
  command->callback(
      [flags, &context] { context.action = [flags, &context] { return run_import(*flags, context); }; });
}

}  // namespace tare::cli
