#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

#include "lab/bench/common/flags.hpp"
#include "lab/driver/workload.hpp"

namespace tare::spawn {

/// What a run is asked to do: the `config` of its document, so that a resumed run does the same.
struct Options {
  std::string bench = "spawn";
  std::vector<std::string> targets;  ///< names, or `name=driver:…` and `name=cmd:…`
  std::vector<std::string> rows;     ///< in the order in which they run
  bool rows_named = false;           ///< by --rows: one that no target has is then reported, else left out
  std::uint64_t iterations = 200;    ///< rounds of each row and process
  std::uint64_t warmup = 20;         ///< rounds before them, which are no samples
  std::uint64_t processes = 1;       ///< fresh driver processes that repeat each row
  std::vector<std::uint64_t> fanout = {1, 8, 32};
  std::vector<std::uint64_t> guests = {1, 4, 16, 64};  ///< alive at once, while memory is read
  std::optional<std::uint64_t> pin;                    ///< the CPU that everything runs on
  std::uint64_t seed = 42;
  std::uint64_t timeout_ms = 30'000;  ///< of one operation
  bool quick = false;
  std::optional<std::string> node;  ///< prefix of the reference Node; null: the pinned one
  bool trace = false;
  bool skip_extra_rows = false;

  std::chrono::milliseconds timeout() const { return std::chrono::milliseconds(timeout_ms); }
};
BOOST_DESCRIBE_STRUCT(Options, (),
                      (bench, targets, rows, rows_named, iterations, warmup, processes, fanout, guests, pin,
                       seed, timeout_ms, quick, node, trace, skip_extra_rows))

/// The options as a person gave them: the text after each flag, nothing where a flag was not given.
struct RawOptions {
  std::optional<std::string> targets;  ///< comma-separated names
  /// Of a run that names none.
  std::vector<std::string> default_targets = {"native", "sh", "node"};
  std::vector<std::string> extra_targets;  ///< each `name=driver:…` or `name=cmd:…`
  std::optional<std::string> rows;
  std::optional<std::string> iterations;
  std::optional<std::string> warmup;
  std::optional<std::string> processes;
  std::optional<std::string> fanout;
  std::optional<std::string> guests;
  std::optional<std::string> pin;
  std::optional<std::string> seed;
  std::optional<std::string> timeout;  ///< seconds
  std::optional<std::string> node;
  bool quick = false;
  bool trace = false;
};

struct Rounds {
  std::uint64_t iterations;
  std::uint64_t warmup;
};

/// How often a row is measured in each process. An operation that starts a whole runtime takes seconds, so
/// such a row has a tenth of the rounds, at least 6 (the fewest with an interval) unless fewer are asked for.
/// Memory varies little: its rows have 6 at most. Growth over many processes takes a minute: 3 at most, and
/// no warm-up but its own.
Rounds rounds_of(const Options& options, const driver::Workload& workload);

/// The limit of one operation: --timeout, and ten times that for one that is many processes one after
/// another.
std::chrono::milliseconds timeout_of(const Options& options, const driver::Workload& workload);

/// Validates, fills in defaults and lays flags over --quick over the environment (BENCH_ITERATIONS,
/// BENCH_WARMUP, BENCH_PROCESS_LIFECYCLE_TRACE, BENCH_PROCESS_LIFECYCLE_SKIP_EXTRA_ROWS).
/// Throws Error(usage): one line that names the flag, its range and what was given.
Options resolve(const RawOptions& raw, const bench::Environment& environment);

/// The options of an interrupted run, after checking that no flag of `raw` asks for something else.
/// Throws Error(input) that names the first difference. `source` names the document.
Options resume(const Options& before, const RawOptions& raw, std::string_view source);

/// The rows that there are with these sizes, in the order in which they run.
std::vector<std::string> all_rows(const std::vector<std::uint64_t>& fanout,
                                  const std::vector<std::uint64_t>& guests);

}  // namespace tare::spawn
