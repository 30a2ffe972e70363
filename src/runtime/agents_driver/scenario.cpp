#include "runtime/agents_driver/scenario.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "base/text.hpp"
#include "runtime/agents_driver/scenarios.hpp"
#include "runtime/agents_driver/world.hpp"
#include "serve/serve.hpp"

namespace tare::agents_driver {
namespace {

/// What becomes of the folder `dir`.
enum class State { none, looked_for, on_disk };

struct Kind {
  std::string_view name;
  State state;
  std::unique_ptr<Scenario> (*make)(Task task);
};

constexpr std::array<Kind, 11> kinds{{
    {"spawnPipelineInMemory", State::looked_for,
     [](Task task) { return spawn_pipeline(std::move(task), Kept::in_memory); }},
    {"spawnPipelineDurable", State::on_disk,
     [](Task task) { return spawn_pipeline(std::move(task), Kept::on_disk); }},
    {"admission", State::none, admission},
    {"recoverySweep", State::none,
     [](Task task) {
       const std::uint32_t children = task.size;
       return recovery_sweep(std::move(task), children);
     }},
    {"duplicateSuppression", State::none,
     [](Task task) {
       const std::uint32_t children = task.size;
       return duplicate_suppression(std::move(task), children);
     }},
    {"spawnSettleEndToEnd", State::on_disk, spawn_settle},
    {"mixedLoad", State::on_disk, mixed_load},
    {"durableCrash", State::on_disk, durable_crash},
    {"sweepScale", State::none,
     [](Task task) {
       const std::uint32_t children = task.size / generations;
       return recovery_sweep(std::move(task), children);
     }},
    {"dedupeScale", State::none,
     [](Task task) {
       const std::uint32_t children = task.size / generations;
       return duplicate_suppression(std::move(task), children);
     }},
    {"restartScale", State::on_disk, restart},
}};

struct Row {
  const Kind* kind;
  std::int64_t size;
};

/// The scenario that a row is of and its n, or nothing.
std::optional<Row> find(std::string_view row) {
  const std::size_t at = row.rfind('_');
  if (at == std::string_view::npos) return std::nullopt;
  const auto kind = std::ranges::find(kinds, row.substr(0, at), &Kind::name);
  const auto size = text::to_int(row.substr(at + 1));
  return kind != kinds.end() && size && *size >= 1 ? std::optional(Row{kind, *size}) : std::nullopt;
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
  const std::optional<Row> found = find(row);
  if (!found) return nullptr;
  const Kind* const kind = found->kind;
  Task task;
  task.size = needed(params.size, "size");
  if (task.size != found->size)
    throw serve::Refusal{"invalid", fmt::format("params.size is {} in {}", task.size, row)};
  task.budget = std::chrono::milliseconds(needed(params.timeout_ms, "timeoutMs"));
  if (task.budget.count() < 1) throw serve::Refusal{"invalid", "params.timeoutMs must be at least 1"};
  task.nonce = needed(params.nonce, "nonce");
  if (kind->state != State::none) task.dir = needed(params.dir, "dir");
  if (kind->name == "mixedLoad")
    task.duration = std::chrono::milliseconds(needed(params.duration_ms, "durationMs"));
  if (kind->name == "durableCrash") {
    task.phase = needed(params.phase, "phase");
    if (task.phase != "register" && task.phase != "recover")
      throw serve::Refusal{"invalid", "params.phase is neither register nor recover"};
    if (task.phase == "register") task.acks = needed(params.acks, "acks");
  }
  if (kind->state == State::on_disk)
    check_folder(task.database(), task.phase == "recover" ? Holds::the_database : Holds::nothing);
  return kind->make(std::move(task));
}

}  // namespace tare::agents_driver
