#include "lab/driver/agents.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tare::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t largest_fanout = 256;
constexpr std::int64_t largest_sweep = 4096;
constexpr std::int64_t largest_crash = 10'000;
constexpr std::int64_t fewest_scale = 3;
constexpr std::int64_t largest_scale = 1'000'000;

std::vector<AgentScenario> all_scenarios() {
  const auto fanout = [](std::string name, Work work) {
    return AgentScenario{std::move(name), work, SizeList::fanout, 1, largest_fanout};
  };
  const auto sweep = [](std::string name, Work work) {
    return AgentScenario{std::move(name), work, SizeList::sweep_rows, 1, largest_sweep};
  };
  const auto scale = [](std::string name, Work work) {
    return AgentScenario{std::move(name), work, SizeList::scale_rows, fewest_scale, largest_scale};
  };
  return {fanout("spawnPipelineInMemory", Work::spawn_pipeline_memory),
          fanout("spawnPipelineDurable", Work::spawn_pipeline_durable),
          fanout("admission", Work::admission),
          sweep("recoverySweep", Work::recovery_sweep),
          sweep("duplicateSuppression", Work::duplicate_suppression),
          fanout("spawnSettleEndToEnd", Work::spawn_settle),
          fanout("mixedLoad", Work::mixed_load),
          {"durableCrash", Work::durable_crash, SizeList::crash_runs, 1, largest_crash},
          scale("sweepScale", Work::sweep_scale),
          scale("dedupeScale", Work::dedupe_scale),
          scale("restartScale", Work::restart_scale)};
}

std::vector<std::string> metrics_of(Work work) {
  if (work == Work::spawn_settle) return {"total", "spawn", "settle"};
  return {"total"};
}

}  // namespace

const std::vector<AgentScenario>& agent_scenarios() {
  static const std::vector<AgentScenario> scenarios = all_scenarios();
  return scenarios;
}

std::optional<AgentScenario> scenario_of(std::string_view row) {
  const auto& all = agent_scenarios();
  const auto found = std::find_if(all.begin(), all.end(), [&](const AgentScenario& scenario) {
    return scenario.name == row.substr(0, row.rfind('_'));
  });
  if (found == all.end() || row.size() == found->name.size()) return std::nullopt;
  return *found;
}

std::optional<Workload> agents_workload(std::string_view scenario, std::int64_t size) {
  const auto& all = agent_scenarios();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const AgentScenario& known) { return known.name == scenario; });
  if (found == all.end() || size < found->smallest || size > found->largest) return std::nullopt;
  return Workload{fmt::format("{}_{}", scenario, size),
                  found->work,
                  size,
                  metrics_of(found->work),
                  {"rssStartBytes", "rssEndBytes", "processMaxRssBytes"},
                  std::string(agents_bench)};
}

json::Object register_params(const Workload& crash, std::uint64_t nonce, const fs::path& folder,
                             const fs::path& acks) {
  json::Object params = make_params(crash, nonce, folder);
  params["phase"] = "register";
  params["acks"] = acks.string();
  return params;
}

json::Object recover_params(const Workload& crash, std::uint64_t nonce, const fs::path& folder) {
  json::Object params = make_params(crash, nonce, folder);
  params["phase"] = "recover";
  return params;
}

std::string crash_label(std::string_view nonce, std::int64_t k) {
  return fmt::format("{}-{}", nonce, k);
}

std::string crash_task(std::int64_t k) {
  return std::string(100, static_cast<char>('a' + k % 26));
}

}  // namespace tare::driver
