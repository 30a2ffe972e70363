#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

#include "lab/driver/workload.hpp"

/// The rows of the import bench: what it costs to boot an isolate and to load code into it.
/// docs/driver-protocol.md says what each asks of a driver.
namespace tare::driver {

/// What one scenario is, in the words of the seed. A run's document carries this of each of its scenarios.
struct ImportScenario {
  std::string id;  ///< the row: "cold-local-import"
  std::string workload;
  std::string runtime;  ///< on which kind of lane the seed ran it: "native-execution" or "host-node"
  std::string mode;
  std::string description;
  std::string fixture;
  std::string entrypoint;            ///< beneath the workspace: "bench/cold-local-import.mjs"
  std::string compile_cache;         ///< "disabled" or "primed"
  std::string engine_reuse;          ///< "fresh-per-sample" and so on
  bool expects_import = true;        ///< whether its marker says how long its imports took
  std::optional<std::string> needs;  ///< the package without which it cannot run
  bool projected = false;            ///< whether it names files of the package, not the package
};
BOOST_DESCRIBE_STRUCT(ImportScenario, (),
                      (id, workload, runtime, mode, description, fixture, entrypoint, compile_cache,
                       engine_reuse, expects_import, needs, projected))

inline constexpr std::string_view cache_primed = "primed";
inline constexpr std::string_view cache_disabled = "disabled";
inline constexpr std::string_view fresh_per_sample = "fresh-per-sample";
inline constexpr std::string_view shared_across_scenario = "shared-across-scenario";
inline constexpr std::string_view shared_context_across_scenario = "shared-context-across-scenario";
inline constexpr std::string_view true_cold_start = "true-cold-start";

/// What a program of the bench writes before its metrics, at the start of a line.
inline constexpr std::string_view import_marker = "__AGENTOS_BENCH__:";

/// How long one round trip may take.
inline constexpr std::chrono::seconds transport_limit{5};

/// The name of what carries the round trips, and how much each carries.
inline constexpr std::string_view transport_channel = "execution-stdio-echo";
const std::vector<std::int64_t>& transport_sizes();

/// The name of the pinned set of packages that the scenarios load.
inline constexpr std::string_view import_packages = "import";

/// All 21, in the order of the seed.
const std::vector<ImportScenario>& import_scenarios();

/// Of a row; nothing when it is a round trip or none.
const ImportScenario* import_scenario(std::string_view row);

/// The names of all rows, in the order of a report: round trips first.
std::vector<std::string> import_rows();

/// Nothing when there is no such row.
std::optional<Workload> import_workload(std::string_view row);

/// Where a row runs.
struct ImportPlace {
  std::filesystem::path dir;                          ///< the workspace
  std::filesystem::path cache;                        ///< of a primed row: its own folder, empty at first
  std::optional<std::filesystem::path> node_modules;  ///< the packages themselves, where they are installed
};

json::Object import_params(const Workload& workload, std::uint64_t nonce, const ImportPlace& place);

/// The k-th line (from 0) of a round trip of so many bytes, without its newline. Never shorter than its head.
std::string transport_line(std::string_view nonce, std::uint64_t k, std::int64_t bytes);

/// Under which name the parameters of a judgement say which sample of its request it is; absent: the first.
inline constexpr std::string_view sample_index = "sampleIndex";

}  // namespace tare::driver
