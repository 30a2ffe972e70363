#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

#include "lab/driver/import.hpp"
#include "lab/driver/workload.hpp"

namespace tare::import_bench {

/// What a run is asked to do: the `config` of its document, so that a resumed run does the same.
struct Options {
  std::string bench = "import";
  std::vector<std::string> targets;  ///< names, or `name=driver:…` and `name=copy:…`
  std::vector<std::string> rows;     ///< in the order in which they run
  std::uint64_t iterations = 10;     ///< samples of each worker
  std::uint64_t warmup = 1;          ///< samples before them, which count for nothing
  std::uint64_t processes = 1;       ///< fresh workers of each row and lane
  std::uint64_t seed = 42;
  std::uint64_t timeout_ms = 60'000;  ///< of one sample
  bool quick = false;
  std::optional<std::string> node;                ///< prefix of the reference Node; null: the pinned one
  std::vector<driver::ImportScenario> scenarios;  ///< what those of the rows are that are scenarios

  std::chrono::milliseconds timeout() const { return std::chrono::milliseconds(timeout_ms); }
};
BOOST_DESCRIBE_STRUCT(Options, (),
                      (bench, targets, rows, iterations, warmup, processes, seed, timeout_ms, quick, node,
                       scenarios))

/// The options as a person gave them: the text after each flag, nothing where a flag was not given.
struct RawOptions {
  std::optional<std::string> targets;      ///< comma-separated names
  std::vector<std::string> extra_targets;  ///< each `name=driver:…` or `name=copy:…`
  std::optional<std::string> scenarios;
  std::optional<std::string> iterations;
  std::optional<std::string> warmup;
  std::optional<std::string> processes;
  std::optional<std::string> seed;
  std::optional<std::string> timeout;  ///< seconds
  std::optional<std::string> node;
  bool quick = false;
};

/// Validates, fills in defaults and lays flags over --quick.
/// Throws Error(usage): one line that names the flag, its range and what was given.
Options resolve(const RawOptions& raw);

/// The rows of a run, in the order in which they run.
std::vector<driver::Workload> workloads(const Options& options);

}  // namespace tare::import_bench
