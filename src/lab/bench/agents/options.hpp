#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

#include "lab/driver/workload.hpp"

namespace tare::agents_bench {

/// What a run is asked to do: the `config` of its document, so that a resumed run does the same.
struct Options {
  std::string bench = "agents";
  std::vector<std::string> targets;    ///< names, or `name=driver:…` and `name=copy:…`
  std::vector<std::string> scenarios;  ///< in the order in which they run
  bool scenarios_named = false;  ///< by --scenarios: one that no target has is then reported, else left out
  std::uint64_t runs = 10;       ///< samples of each worker
  std::uint64_t warmup = 1;      ///< samples before them, which count for nothing
  std::vector<std::uint64_t> fanout = {1, 8, 32, 64};
  std::vector<std::uint64_t> sweep_rows = {32, 128, 512};  ///< children, with three generations each
  std::vector<std::uint64_t> scale_rows;                   ///< rows of a large registry; none by default
  std::uint64_t processes = 1;                             ///< fresh workers of each row and lane
  std::optional<std::string> state;  ///< a folder for what is kept on disk; null: a fresh one
  std::uint64_t seed = 42;
  std::uint64_t timeout_ms = 300'000;  ///< of one worker, from its start to its end
  std::uint64_t mixed_ms = 1'000;      ///< how long the clients of mixedLoad go on
  bool quick = false;
  std::optional<std::string> node;  ///< prefix of the reference Node; null: the pinned one

  std::chrono::milliseconds timeout() const { return std::chrono::milliseconds(timeout_ms); }
};
BOOST_DESCRIBE_STRUCT(Options, (),
                      (bench, targets, scenarios, scenarios_named, runs, warmup, fanout, sweep_rows,
                       scale_rows, processes, state, seed, timeout_ms, mixed_ms, quick, node))

/// The options as a person gave them: the text after each flag, nothing where a flag was not given.
struct RawOptions {
  std::optional<std::string> targets;      ///< comma-separated names
  std::vector<std::string> extra_targets;  ///< each `name=driver:…` or `name=copy:…`
  std::optional<std::string> scenarios;
  std::optional<std::string> runs;
  std::optional<std::string> warmup;
  std::optional<std::string> fanout;
  std::optional<std::string> sweep_rows;
  std::optional<std::string> scale_rows;
  std::optional<std::string> processes;
  std::optional<std::string> state;
  std::optional<std::string> seed;
  std::optional<std::string> timeout;  ///< seconds
  std::optional<std::string> node;
  bool quick = false;
};

/// Validates, fills in defaults and lays flags over --quick.
/// Throws Error(usage): one line that names the flag, its range and what was given.
Options resolve(const RawOptions& raw);

/// The options of an interrupted run, after checking that no flag of `raw` asks for something else.
/// Throws Error(input) that names the first difference. `source` names the document.
Options resume(const Options& before, const RawOptions& raw, std::string_view source);

/// How often a row is measured in each worker.
struct Rounds {
  std::uint64_t runs;
  std::uint64_t warmup;
};

/// A row that kills its workers has fresh ones for each sample, so nothing of them could be warm; and as it
/// takes two of them for each, a quick run has 3.
Rounds rounds_of(const Options& options, const driver::Workload& workload);

/// The rows of a run, in the order in which they run: each scenario with each of its sizes.
std::vector<driver::Workload> workloads(const Options& options);

}  // namespace tare::agents_bench
