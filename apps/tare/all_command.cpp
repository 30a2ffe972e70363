#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "agents_command.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "lab/bench/gateway/run.hpp"
#include "lab/bench/import/run.hpp"
#include "lab/driver/registry.hpp"
#include "lab/driver/workload.hpp"
#include "lab/report/benches.hpp"
#include "lab/report/progress.hpp"
#include "outputs.hpp"
#include "spawn_command.hpp"

namespace tare::cli {
namespace {

constexpr std::string_view all_file = "out/run.json";

struct AllFlags {
  bool quick = false;
  std::optional<std::string> node;
  OutputOptions output;
};

/// The benches one after the other, and what they leave.
class AllBenches {
 public:
  AllBenches(const AllFlags& flags, std::filesystem::path path, Context& context)
      : flags_(flags), path_(std::move(path)), context_(context), progress_(context.err, context.clock) {}

  int run();

 private:
  /// Runs one bench. What keeps it from running is one line on stderr, and does not keep the next one.
  template <class Bench>
  void measure(Bench bench);
  /// What this bench has so far, behind those before it.
  void save(const report::Document& document) const;
  bench::Result spawn();
  bench::Result agents();
  bench::Result import();
  bench::Result gateway();
  /// What every bench is asked for.
  void order(bench::Order& order) const;
  int finish();

  const AllFlags& flags_;
  std::filesystem::path path_;
  Context& context_;
  Interrupt interrupt_;
  report::Progress progress_;
  std::vector<report::Document> parts_;
  std::optional<int> signal_;
  std::string position_;
  std::vector<std::string> failures_;
  std::optional<int> refusal_;  ///< the exit code of a bench that could not run
};

void AllBenches::order(bench::Order& order) const {
  order.command = context_.command;
  order.save = [this](const report::Document& document) { save(document); };
}

bench::Result AllBenches::spawn() {
  spawn::RawOptions raw;
  raw.quick = flags_.quick;
  raw.node = flags_.node;
  raw.default_targets = driver::default_targets({});
  spawn::Request request;
  order(request);
  request.options = spawn::resolve(raw, environment);
  bench::Result result = spawn::run(request, {context_.clock, interrupt_, progress_});
  attach_calibrations(result.document);
  return result;
}

bench::Result AllBenches::agents() {
  agents_bench::RawOptions raw;
  raw.quick = flags_.quick;
  raw.node = flags_.node;
  agents_bench::Request request;
  order(request);
  request.options = agents_bench::resolve(raw);
  return agents_bench::run(request, {context_.clock, interrupt_, progress_});
}

bench::Result AllBenches::import() {
  import_bench::RawOptions raw;
  raw.quick = flags_.quick;
  raw.node = flags_.node;
  driver::RegistryOptions registry;
  registry.bench = driver::import_bench;
  raw.targets = text::join(driver::default_targets(registry), ",");
  import_bench::Request request;
  order(request);
  request.options = import_bench::resolve(raw);
  return import_bench::run(request, {context_.clock, interrupt_, progress_});
}

bench::Result AllBenches::gateway() {
  gateway_bench::RawOptions raw;
  raw.quick = flags_.quick;
  gateway_bench::Request request;
  order(request);
  request.options = gateway_bench::resolve(raw);
  request.say = [this](const std::string& text) {
    progress_.finish();
    context_.err.write(text);
  };
  return gateway_bench::run(request, {context_.clock, interrupt_, progress_});
}

void AllBenches::save(const report::Document& document) const {
  std::vector<report::Document> parts = parts_;
  parts.push_back(document);
  report::save(report::merge(parts), path_);
}

template <class Bench>
void AllBenches::measure(Bench bench) {
  if (signal_) return;
  try {
    bench::Result result = (this->*bench)();
    progress_.finish();
    parts_.push_back(std::move(result.document));
    signal_ = result.signal;
    position_ = std::move(result.position);
    if (result.failure) failures_.push_back(std::move(*result.failure));
  } catch (const Error& error) {
    progress_.finish();
    complain(context_, error);
    refusal_ = std::max<int>(refusal_.value_or(0), error.exit_code());
  }
}

int AllBenches::run() {
  measure(&AllBenches::spawn);
  measure(&AllBenches::agents);
  measure(&AllBenches::import);
  measure(&AllBenches::gateway);
  if (parts_.empty()) return refusal_.value_or(exit_failed);
  return finish();
}

int AllBenches::finish() {
  bench::Result result{report::merge(parts_), signal_, {}, position_};
  // The document has a bench that did not run just as one that was cut short.
  if (signal_ || refusal_ || !failures_.empty()) result.document.complete = false;
  if (!result.document.complete) result.document.finished_at.reset();
  if (!failures_.empty()) result.failure = text::join(failures_, "; ");
  const int code = report_run(result, path_, flags_.output, "`tare all` starts anew", context_);
  return code == exit_ok ? refusal_.value_or(exit_ok) : code;
}

}  // namespace

void add_all(CLI::App& app, Context& context) {
  auto flags = std::make_shared<AllFlags>();
  CLI::App* all = app.add_subcommand(
      "all", "Run every bench on the built-in targets: spawn, agents, import, then gateway");
  all->add_flag("--quick", flags->quick, "Few samples and small sizes: a first look, under 3 minutes");
  add_text(*all, "--node", flags->node,
           "Node.js of the reference lane: PREFIX/bin/node (default: the pinned one)", "PREFIX");
  add_output_options(*all, flags->output, all_file);
  all->footer("Example:\n  tare all --quick --markdown out/report.md");
  all->callback([flags, &context] {
    context.action = [flags, &context] {
      std::filesystem::path path = document_path(flags->output, all_file);
      return AllBenches(*flags, std::move(path), context).run();
    };
  });
}

}  // namespace tare::cli
