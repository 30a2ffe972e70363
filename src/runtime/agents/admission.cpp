#include "runtime/agents/admission.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tare::agents {
namespace {

constexpr const char* being_started = "childBeingStarted";

template <class Counts>
std::uint64_t count(const Counts& counts, std::string_view name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

std::string Refusal::text() const {
  if (cap == being_started) return "this child is being started already";
  return fmt::format("{} is {}, and {} {} there", cap, limit, current, current == 1 ? "is" : "are");
}

Reservation::Reservation(Reservation&& other) noexcept
    : admission_(std::exchange(other.admission_, nullptr)),
      controller_(other.controller_),
      child_(other.child_),
      group_(other.group_) {}

void Reservation::release() {
  if (Admission* admission = std::exchange(admission_, nullptr)) admission->release(*this);
}

Pending Admission::pending(const Demand& demand) const {
  return {count(controllers_, demand.controller), demand.group.empty() ? 0 : count(groups_, demand.group),
          all_};
}

std::optional<Refusal> Admission::taken(const Demand& demand) const {
  if (demand.child.empty() || !children_.contains(demand.child)) return std::nullopt;
  return Refusal{being_started, 1, 1};
}

Reservation::Count* Admission::add(Counts& counts, std::string_view name) {
  if (name.empty()) return nullptr;
  auto found = counts.find(name);
  if (found == counts.end()) found = counts.emplace(name, 0).first;
  found->second += 1;
  return &*found;
}

void Admission::remove(Counts& counts, Reservation::Count* count) {
  if (count != nullptr && --count->second == 0) counts.erase(count->first);
}

Reservation Admission::hold(const Demand& demand) {
  all_ += 1;
  return {*this, add(controllers_, demand.controller), add(children_, demand.child),
          add(groups_, demand.group)};
}

void Admission::release(const Reservation& reservation) {
  remove(controllers_, reservation.controller_);
  remove(children_, reservation.child_);
  remove(groups_, reservation.group_);
  all_ -= 1;
}

void check(const Caps& caps) {
  const auto in = [](const char* name, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
    if (value < low || value > high)
      throw Error(ErrorCode::usage, fmt::format("{} must be {} to {}, got {}", name, low, high, value));
  };
  in("maxSpawnDepth", caps.max_spawn_depth, 1, 5);
  in("maxChildrenPerAgent", caps.max_children_per_agent, 1, 20);
}

std::optional<Refusal> decide(const Caps& caps, const Load& load, const Pending& pending) {
  if (load.depth >= caps.max_spawn_depth) return Refusal{"maxSpawnDepth", caps.max_spawn_depth, load.depth};
  if (const std::uint64_t children = load.children + pending.controller;
      children >= caps.max_children_per_agent)
    return Refusal{"maxChildrenPerAgent", caps.max_children_per_agent, children};
  if (const std::uint64_t members = load.in_group + pending.group;
      caps.max_per_group && members >= *caps.max_per_group)
    return Refusal{"maxPerGroup", *caps.max_per_group, members};
  if (const std::uint64_t members = load.in_all_groups + pending.all;
      caps.max_in_all_groups && members >= *caps.max_in_all_groups)
    return Refusal{"maxInAllGroups", *caps.max_in_all_groups, members};
  return std::nullopt;
}

}  // namespace tare::agents
