#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/driver/workload.hpp"

/// The rows of the agents bench: `<scenario>_<n>`, as `admission_64`. docs/driver-protocol.md says what each
/// asks of a registry and what it counts.
namespace tare::driver {

/// Which list of sizes a scenario takes.
enum class SizeList {
  fanout,      ///< how many at once
  sweep_rows,  ///< children, with three generations each
  scale_rows,  ///< rows of a large registry; only on demand
  crash_runs,  ///< runs that are being registered when the registry is killed
};

struct AgentScenario {
  std::string name;  ///< "admission"
  Work work = Work::admission;
  SizeList sizes = SizeList::fanout;
  std::int64_t smallest = 1;
  std::int64_t largest = 1;
};

/// How many runs `durableCrash` registers, and how many of them may be in flight when it is killed.
inline constexpr std::int64_t crash_runs = 1000;
inline constexpr std::int64_t crash_in_flight = 64;

/// How long the clients of `mixedLoad` go on, unless its parameter `durationMs` is changed.
inline constexpr std::chrono::milliseconds mixed_duration{1000};

/// Every scenario, in the order of a report.
const std::vector<AgentScenario>& agent_scenarios();

/// Of a row of the agents bench; nothing when the row is none.
std::optional<AgentScenario> scenario_of(std::string_view row);

/// Nothing when there is no such scenario, or the size is beyond its limits.
std::optional<Workload> agents_workload(std::string_view scenario, std::int64_t size);

/// The two requests of `durableCrash`, each to a driver of its own, in the same folder. The first writes a
/// line to the FIFO `acks` after each acknowledgement.
json::Object register_params(const Workload& crash, std::uint64_t nonce, const std::filesystem::path& folder,
                             const std::filesystem::path& acks);
json::Object recover_params(const Workload& crash, std::uint64_t nonce, const std::filesystem::path& folder);

/// What the k-th run (from 0) of a `durableCrash` is called and is told to do.
std::string crash_label(std::string_view nonce, std::int64_t k);
std::string crash_task(std::int64_t k);

/// Judges what came back after a kill: `params` are those of the registration, `acknowledged` the labels that
/// had been acknowledged when the registry was killed, `recovered` the sample of the recovery. Every
/// acknowledged run must be there, once, as it was submitted and interrupted, and nothing else but runs that
/// were in flight. Counters and the folder are judged by `judge`.
std::vector<Judgement> judge_crash(const json::Object& params, const std::vector<std::string>& acknowledged,
                                   const Sample& recovered);

}  // namespace tare::driver
