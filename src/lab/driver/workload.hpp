#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "lab/driver/protocol.hpp"

/// The rows of the benches: what is asked for and what must hold. The benches and the conformance test
/// of drivers both use them, so that a driver that passes the one is understood by the other.
namespace tare::driver {

inline constexpr std::string_view spawn_bench = "spawn";
inline constexpr std::string_view agents_bench = "agents";
inline constexpr std::string_view import_bench = "import";

/// What kind of work a row is; decides its parameters and its judgements.
enum class Work {
  exit,         ///< one process that exits with code 0, timed in two phases
  fanout,       ///< n of them
  nested,       ///< one that starts n children
  capture,      ///< one whose output is read
  round_trip,   ///< one that echoes its input
  exit_code,    ///< one that exits with another code
  signal,       ///< one that a signal kills
  root_folder,  ///< one in the folder /
  host_folder,  ///< one in a folder of the host
  host_write,   ///< one that writes a file there
  storm,        ///< n at once, and what they leave in the driver
  cold_start,   ///< a runtime that is started, used twice and thrown away
  memory,       ///< the memory of a runtime with n guests, and after them
  growth,       ///< the memory of a runtime before and after n processes, one after another
  // Of the agents bench: what is asked of a registry of agent runs.
  spawn_pipeline_memory,   ///< n concurrent spawns, kept in memory
  spawn_pipeline_durable,  ///< n concurrent spawns, each on disk before it is acknowledged
  admission,               ///< n slots, one too many, and all of them given back
  recovery_sweep,          ///< one sweep over n children of three generations
  duplicate_suppression,   ///< the newest generation of n children, out of three
  spawn_settle,            ///< n spawns and their ends, with somebody who waits for each
  mixed_load,              ///< n clients that spawn, wait and settle, and a sweeper
  durable_crash,           ///< n spawns, a kill in between, and what is there afterwards
  sweep_scale,             ///< as recovery_sweep, over n rows
  dedupe_scale,            ///< as duplicate_suppression, over n rows
  restart_scale,           ///< opening a durable registry of n rows
  // Of the import bench.
  transport,        ///< one line of n bytes to a long-lived process and back
  import_scenario,  ///< a program that loads code, in an isolate that is fresh to some degree
};

struct Workload {
  std::string row;  ///< "fanout_8"
  Work work = Work::exit;
  std::int64_t size = 1;             ///< its n, if it has one; bytes of capture and round trip
  std::vector<std::string> metrics;  ///< times that an ok sample has; `total` is the first
  std::vector<std::string> sizes;    ///< the same in bytes
  std::string bench = std::string(spawn_bench);

  /// Whether each operation starts a whole runtime, which takes seconds.
  bool is_cold() const { return work == Work::cold_start || work == Work::memory || work == Work::growth; }
};

/// What stands for the n of the rows that have one, a row for each.
struct Sizes {
  std::vector<std::int64_t> fanouts;             ///< processes at once
  std::vector<std::int64_t> guests;              ///< processes alive while memory is read
  std::vector<std::int64_t> processes = {1000};  ///< one after another, over which memory may grow
};

/// Names of a bench's rows, in the order of a report; a fan-out of n is "fanout_<n>", and so are all that
/// have a number of their own. Nothing for a bench that there is not.
std::vector<std::string> row_names(std::string_view bench = spawn_bench);

/// The workload of a row of any bench, or nothing when there is no such row. A fan-out has 1 to 1000
/// processes, as many can be alive in a memory row, and growth is measured over 1 to 100,000; agents.hpp has
/// the limits of the agents rows.
std::optional<Workload> find_workload(std::string_view row);

/// The same of one bench.
std::optional<Workload> find_workload(std::string_view row, std::string_view bench);

/// The rows of the spawn bench, in the order of a report, with these sizes.
std::vector<Workload> all_workloads(const Sizes& sizes);

/// The parameters of one sample. `nonce` is fresh for every sample: it is in what the process writes, so
/// that no output of another one can be taken for it. `folder` exists and is empty or holds nothing that
/// matters; host rows run in it. To agents rows it is the folder `dir` of their state, and must be empty.
json::Object make_params(const Workload& workload, std::uint64_t nonce, const std::filesystem::path& folder);

/// One condition of a row, over one sample.
struct Judgement {
  std::string id;  ///< as docs/driver-protocol.md names it
  bool ok = false;
  std::string expected;  ///< the same text in every sample of a row
  std::string actual;
};

/// Judges a sample of the outcome ok; any other has nothing to judge and gives nothing. A counter that is
/// required and absent breaks its condition: an unknown exit is a failure. Reads and removes the file that
/// host_cwd_write_1file was to write; looks whether an agents row left its folder empty.
std::vector<Judgement> judge(const Workload& workload, const json::Object& params, const Sample& sample);

/// "exit_code: expected 0, got 1".
std::string describe(const Judgement& judgement);

}  // namespace tare::driver
