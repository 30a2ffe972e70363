#include "runtime/agents_driver/scenario.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "base/text.hpp"
#include "runtime/agents_driver/scenarios.hpp"
#include "serve/serve.hpp"

namespace tare::agents_driver {
namespace {

struct Kind {
  std::string_view name;
  bool on_disk;
  std::unique_ptr<Scenario> (*make)(Task task);
};

constexpr std::uint32_t generations = 3;

constexpr std::array<Kind, 11> kinds{{
    {"spawnPipelineInMemory", true,
     [](Task task) { return spawn_pipeline(std::move(task), Kept::in_memory); }},
    {"spawnPipelineDurable", true, [](Task task) { return spawn_pipeline(std::move(task), Kept::on_disk); }},
    {"admission", false, admission},
    {"recoverySweep", false,
     [](Task task) {
       const std::uint32_t children = task.size;
       return recovery_sweep(std::move(task), children);
     }},
    {"duplicateSuppression", false,
     [](Task task) {
       const std::uint32_t children = task.size;
       return duplicate_suppression(std::move(task), children);
     }},
    {"spawnSettleEndToEnd", true, spawn_settle},
    {"mixedLoad", true, mixed_load},
    {"durableCrash", true, durable_crash},
    {"sweepScale", false,
     [](Task task) {
       const std::uint32_t children = task.size / generations;
       return recovery_sweep(std::move(task), children);
     }},
    {"dedupeScale", false,
     [](Task task) {
       const std::uint32_t children = task.size / generations;
       return duplicate_suppression(std::move(task), children);
     }},
    {"restartScale", true, restart},
}};

/// The scenario that a row is of, or nullptr.
const Kind* find(std::string_view row) {
  const std::size_t at = row.rfind('_');
  if (at == std::string_view::npos) return nullptr;
  const auto kind = std::ranges::find(kinds, row.substr(0, at), &Kind::name);
  const auto size = text::to_int(row.substr(at + 1));
  return kind != kinds.end() && size && *size >= 1 ? kind : nullptr;
}

template <class T>
T needed(const std::optional<T>& value, const char* name) {
  if (!value) throw serve::Refusal{"invalid", std::string("params.") + name + " is missing"};
  return *value;
}

}  // namespace

std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.push_back(std::string(kind.name) + "_<n>");
  return names;
}

std::unique_ptr<Scenario> make_scenario(std::string_view row, const Params& params) {
  const Kind* kind = find(row);
  if (kind == nullptr) return nullptr;
  Task task;
  task.size = needed(params.size, "size");
  task.nonce = needed(params.nonce, "nonce");
  if (kind->on_disk) task.dir = needed(params.dir, "dir");
  if (kind->name == "mixedLoad")
    task.duration = std::chrono::milliseconds(needed(params.duration_ms, "durationMs"));
  if (kind->name == "durableCrash") {
    task.phase = needed(params.phase, "phase");
    if (task.phase != "register" && task.phase != "recover")
      throw serve::Refusal{"invalid", "params.phase is neither register nor recover"};
    if (task.phase == "register") task.acks = needed(params.acks, "acks");
  }
  if (task.size < 1) throw serve::Refusal{"invalid", "params.size must be at least 1"};
  return kind->make(std::move(task));
}

}  // namespace tare::agents_driver
