#include <deque>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli.hpp"
#include "lab/verdict/calibration.hpp"
#include "lab/verdict/compare.hpp"
#include "lab/verdict/compare_markdown.hpp"
#include "lab/verdict/compare_table.hpp"
#include "outputs.hpp"

namespace tare::cli {
namespace {

struct Flags {
  std::vector<std::string> runs;
  std::optional<std::string> tolerance;
  bool across_machines = false;
  bool all = false;
  bool json = false;
  std::optional<std::string> output;
  std::optional<std::string> markdown;
};

/// A run as it was named: a file, and perhaps one lane of it.
struct Named {
  std::string text;
  std::filesystem::path file;
  std::optional<std::string> target;
};

/// FILE or FILE@TARGET. File names may hold a `@` too, so what exists decides.
Named named(const std::string& text) {
  if (text.empty()) throw Error(ErrorCode::usage, "a run document has an empty name");
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored)) return {text, text, {}};
  for (std::size_t at = text.rfind('@'); at != std::string::npos && at > 0; at = text.rfind('@', at - 1)) {
    const std::string file = text.substr(0, at);
    if (std::filesystem::exists(file, ignored)) return {text, file, text.substr(at + 1)};
  }
  return {text, text, {}};
}

/// Each file is read once, however many of its lanes were named: lanes of one document share their rounds.
class Documents {
 public:
  verdict::Source source(const Named& run) {
    const report::Document& document = load(run.file);
    if (run.target) check_target(document, run);
    return {run.text, run.target, &document};
  }

 private:
  const report::Document& load(const std::filesystem::path& file) {
    for (const auto& [path, document] : loaded_) {
      if (same_file(path, file)) return document;
    }
    return loaded_.emplace_back(file, report::load(file)).second;
  }

  static void check_target(const report::Document& document, const Named& run) {
    std::vector<std::string> known;
    const auto add = [&](const std::string& id) {
      if (std::find(known.begin(), known.end(), id) == known.end()) known.push_back(id);
    };
    for (const report::Target& target : document.targets) add(target.id);
    for (const report::Row& row : document.rows) add(row.target);
    if (std::find(known.begin(), known.end(), *run.target) != known.end()) return;
    const auto near = text::did_you_mean(*run.target, known);
    throw Error(ErrorCode::input, fmt::format("{} has no target '{}'", run.file.string(), *run.target),
                known.empty() ? "it has none" : "it has " + text::join(known, ", "),
                near ? fmt::format("did you mean '{}@{}'?", run.file.string(), *near) : "");
  }

  std::deque<std::pair<std::filesystem::path, report::Document>> loaded_;
};

double tolerance_of(const std::optional<std::string>& text) {
  if (!text) return verdict::default_tolerance;
  std::string_view digits = text::trim(*text);
  if (digits.ends_with('%')) digits = text::trim(digits.substr(0, digits.size() - 1));
  const auto percent = text::to_double(digits);
  if (!percent || *percent < 0 || *percent > 1000)
    throw Error(ErrorCode::usage, fmt::format("--tolerance must be 0 to 1000 (percent), got {}", *text));
  return *percent / 100;
}

/// A run compared with itself would always be the same.
void check_distinct(const std::vector<Named>& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (!same_file(runs[i].file, runs[k].file)) continue;
      if (runs[i].target == runs[k].target) {
        throw Error(ErrorCode::usage, fmt::format("{} is named twice", runs[i].text),
                    "it would be compared with itself");
      }
      if (k == 0 && (!runs[i].target || !runs[k].target)) {
        const std::string file = runs[k].file.string();
        throw Error(ErrorCode::usage, fmt::format("{} and {} are one run", runs[k].text, runs[i].text), "",
                    fmt::format("name a lane of each: {}@node {}@bun", file, file));
      }
    }
  }
}

std::vector<Named> named_runs(const std::vector<std::string>& texts) {
  if (texts.size() < 2) {
    throw Error(ErrorCode::usage,
                texts.empty() ? "no run documents to compare" : "nothing to compare " + texts[0] + " with",
                "", "name a base and a new run: tare compare BASE NEW");
  }
  std::vector<Named> runs;
  for (const std::string& text : texts) runs.push_back(named(text));
  check_distinct(runs);
  return runs;
}

verdict::ComparisonDocument compare_all(const std::vector<verdict::Source>& sources,
                                        verdict::CompareOptions options) {
  verdict::ComparisonDocument result;
  result.tolerance = options.tolerance;
  result.base = verdict::side_of(sources.front());
  const std::filesystem::path cache = verdict::calibration_file();
  const auto of_base = verdict::calibrations_for(*sources.front().document, cache);
  for (std::size_t i = 1; i < sources.size(); ++i) {
    options.calibrations = of_base;
    if (sources[i].document != sources.front().document) {
      const auto more = verdict::calibrations_for(*sources[i].document, cache);
      options.calibrations.insert(options.calibrations.end(), more.begin(), more.end());
    }
    result.comparisons.push_back(verdict::compare(sources.front(), sources[i], options));
  }
  return result;
}

int compare(const Flags& flags, Context& context) {
  verdict::CompareOptions options;
  options.tolerance = tolerance_of(flags.tolerance);
  if (flags.across_machines) options.machines = verdict::Machines::may_differ;
  const std::vector<Named> runs = named_runs(flags.runs);

  std::vector<NamedFile> inputs;
  for (const Named& run : runs) inputs.push_back({inputs.empty() ? "the base" : "a new run", run.file});
  std::vector<NamedFile> files;
  if (flags.output) files.push_back({"--output", *flags.output});
  if (flags.markdown) files.push_back({"--markdown", *flags.markdown});
  check_outputs(files, inputs);

  Documents documents;
  std::vector<verdict::Source> sources;
  for (const Named& run : runs) sources.push_back(documents.source(run));
  const verdict::ComparisonDocument result = compare_all(sources, std::move(options));

  Outputs outputs;
  const std::string json = flags.json || flags.output ? json::pretty(result) : std::string();
  if (flags.output) outputs.write(*flags.output, json);
  if (flags.markdown) outputs.write(*flags.markdown, verdict::markdown(result));
  const report::TerminalFacts terminal = context.err.facts();
  context.err.write(verdict::render(
      result, {terminal.width, terminal.colour,
               flags.all ? verdict::Metrics::every : verdict::Metrics::changed, outputs.wrote()}));
  if (flags.json) write_stdout(json);
  outputs.finish();
  return exit_ok;
}

}  // namespace

void add_compare(CLI::App& app, Context& context) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("compare", "What changed from one run to another, and how sure is it?");
  command
      ->add_option("RUN", flags->runs,
                   "Run documents, the base first: FILE, or FILE@TARGET for one lane of it")
      ->type_name("BASE NEW...");
  add_text(*command, "--tolerance", flags->tolerance,
           "A change up to this share is none, 0 to 1000 (default 5)", "PERCENT");
  command->add_flag("--across-machines", flags->across_machines,
                    "Judge runs of different machines too; without it they are all unclear");
  command->add_flag("--all", flags->all, "Every metric and quantile, not only what changed");
  command->add_flag("--json", flags->json, "The comparison on stdout as JSON, the table on stderr");
  add_text(*command, "--output", flags->output, "Also write the comparison as JSON", "FILE");
  add_text(*command, "--markdown", flags->markdown, "Also write it as Markdown", "FILE");
  command->footer(
      "Runs are compared process by process, so measure both with --processes 10 or so. Two lanes of one "
      "run\n"
      "are compared round by round. The exit code does not judge: 0 whenever there was a comparison.\n"
      "\n"
      "Examples:\n"
      "  tare compare base.json new.json\n"
      "  tare compare run.json@node run.json@bun         two lanes of one run\n"
      "  tare compare old.json new.json newer.json --tolerance 2\n"
      "  tare compare base.json new.json --markdown comment.md --output comparison.json");
  command->callback(
      [flags, &context] { context.action = [flags, &context] { return compare(*flags, context); }; });
}

}  // namespace tare::cli
