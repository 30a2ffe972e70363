#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/agents/run.hpp"
#include "runtime/agents_driver/scenario.hpp"

/// Every scenario; what each measures and counts is in docs/driver-protocol.md.
namespace tare::agents_driver {

class World;

/// Of each child, where there are several.
inline constexpr std::uint32_t generations = 3;

enum class Kept { in_memory, on_disk };

std::unique_ptr<Scenario> spawn_pipeline(Task task, Kept kept);
std::unique_ptr<Scenario> spawn_settle(Task task);
std::unique_ptr<Scenario> mixed_load(Task task);
std::unique_ptr<Scenario> admission(Task task);
/// With `children` × 3 generations.
std::unique_ptr<Scenario> recovery_sweep(Task task, std::uint32_t children);
std::unique_ptr<Scenario> duplicate_suppression(Task task, std::uint32_t children);
std::unique_ptr<Scenario> durable_crash(Task task);
std::unique_ptr<Scenario> restart(Task task);

/// Erases the runs, counts what is left in the registry and in its database, and closes both.
void tear_down(World& world, const Task& task, const std::vector<agents::RunId>& ids,
               std::map<std::string, std::int64_t>& counters);

}  // namespace tare::agents_driver
