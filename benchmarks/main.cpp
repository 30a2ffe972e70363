// tare-bench: Tare's own speed and memory against the bars that it must reach; `make bench` runs it.

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "benchmark.hpp"
#include "lab/measure/host.hpp"
#include "lab/report/provenance.hpp"
#include "table.hpp"

namespace {

using namespace tare;
using benchmarks::Benchmark;
using benchmarks::Result;

struct Options {
  std::vector<std::string> ids;
  std::string output = "out/bench.json";
  std::optional<std::string> markdown;
  bool list = false;
};

/// The benchmarks with these ids, each once, or all. Throws Error(usage) for an id that there is not.
std::vector<Benchmark> select(const std::vector<std::string>& ids) {
  const std::vector<Benchmark>& all = benchmarks::all_benchmarks();
  std::vector<std::string> known;
  known.reserve(all.size());
  for (const Benchmark& benchmark : all) known.push_back(benchmark.bar.id);
  for (const std::string& id : ids) {
    if (std::find(known.begin(), known.end(), id) != known.end()) continue;
    const auto near = text::did_you_mean(id, known);
    throw Error(ErrorCode::usage, fmt::format("no benchmark named '{}'", id),
                "known: " + text::join(known, ", "), near ? fmt::format("did you mean '{}'?", *near) : "");
  }
  std::vector<Benchmark> chosen;
  for (const Benchmark& benchmark : all) {
    if (ids.empty() || std::find(ids.begin(), ids.end(), benchmark.bar.id) != ids.end())
      chosen.push_back(benchmark);
  }
  return chosen;
}

/// "2026-01-31, Tare 0.1.0 (0123456789ab, Release), 2 × AMD EPYC · Linux 6.18 · …"
std::string provenance(const measure::NoiseFacts& before) {
  report::Document document;
  document.host = measure::with_noise(measure::read_host(), before, measure::read_noise());
  return fmt::format("{}, Tare {} ({}, {}), {}", rfc3339(SystemClock().wall()).substr(0, 10), version(),
                     commit(), build(), report::host_line(document));
}

int measure_all(const Options& options) {
  const std::vector<Benchmark> chosen = select(options.ids);
  file::check_writable(options.output);
  if (options.markdown) file::check_writable(*options.markdown);
  report::DescriptorTerminal terminal(2);
  const measure::NoiseFacts before = measure::read_noise();
  std::vector<Result> results;
  for (const Benchmark& benchmark : chosen) {
    terminal.write(fmt::format("{}  {} …\n", benchmark.bar.id, benchmark.bar.quantity));
    results.push_back(benchmarks::run(benchmark));
  }
  const std::string where = provenance(before);
  terminal.write("\n" + where + "\n" + benchmarks::table(results, terminal.facts()));
  file::write_atomically(options.output, json::pretty(results));
  if (options.markdown) file::write_atomically(*options.markdown, benchmarks::markdown(results, where));
  terminal.write("wrote  " + options.output + (options.markdown ? ", " + *options.markdown : "") + "\n");
  const bool passed = std::all_of(results.begin(), results.end(), [](const Result& result) {
    return result.verdict == benchmarks::Verdict::pass;
  });
  return passed ? exit_ok : exit_failed;
}

int list_all() {
  for (const Benchmark& benchmark : benchmarks::all_benchmarks())
    fmt::print("{:<26} {}\n", benchmark.bar.id, benchmark.bar.quantity);
  return exit_ok;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Measures Tare itself against the bars that it must reach.", "tare-bench");
  app.add_option("ID", options.ids, "Only these (default: all; see --list)");
  app.add_option("--output", options.output, "Where the results go (default out/bench.json)")
      ->type_name("FILE");
  app.add_option("--markdown", options.markdown, "Also write the table as Markdown")->type_name("FILE");
  app.add_flag("--list", options.list, "Print the ids and what they measure");
  app.footer("Exit codes: 0 all that was run passed · 1 something did not · 2 bad command line");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::usage, error.what(), "", "see `tare-bench --help`");
  }
  return options.list ? list_all() : measure_all(options);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.line());
    return error.exit_code();
  } catch (const std::exception& error) {
    fmt::print(stderr, "tare: an unexpected error ({})\n", error.what());
    return exit_failed;
  }
}
