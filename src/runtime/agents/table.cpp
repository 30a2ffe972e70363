#include "runtime/agents/table.hpp"

#include <algorithm>

namespace tare::agents {
Slot RunTable::insert(Run run) {
  if (free_.empty()) {
    if (used_ == chunks_.size() * chunk_size) chunks_.push_back(std::make_unique<Entry[]>(chunk_size));
    free_.push_back(static_cast<Slot>(used_++));
  }
  const Slot slot = free_.back();
  free_.pop_back();
  ids_.emplace(run.id, slot);
  Entry& entry = (*this)[slot];
  entry.id = run.id;
  entry.generation = run.generation;
  entry.status = run.status;
  entry.cleanup = run.cleanup;
  entry.delivery = run.delivery;
  entry.recovered = run.recovered;
  entry.created = run.created;
  entry.archive_at = run.archive_at;
  entry.label = std::move(run.label);
  entry.task = std::move(run.task);
  entry.payload = std::move(run.payload);
  entry.settlement = std::move(run.settlement);
  const std::array<std::string_view, roles> texts{run.child, run.requester, run.controller, run.group};
  for (std::size_t role = 0; role < roles; ++role) {
    entry.name[role] = names_.use(texts[role]);
    Name& name = names_[entry.name[role]];
    entry.previous[role] = none;
    entry.next[role] = name.first[role];
    if (name.first[role] != none) (*this)[name.first[role]].previous[role] = slot;
    name.first[role] = slot;
    name.count[role] += 1;
  }
  Name& child = names_[entry.child()];
  child.newest_generation = std::max(child.newest_generation, entry.generation);
  if (entry.status != Status::terminal) count_active(entry, 1);
  return slot;
}

void RunTable::count_active(const Entry& entry, int by) {
  active_ += static_cast<std::size_t>(by);
  for (std::size_t role = 0; role < roles; ++role)
    names_[entry.name[role]].active[role] += static_cast<std::uint32_t>(by);
}

void RunTable::settle(Slot slot, Settlement settlement, std::optional<WallTime> archive_at) {
  Entry& entry = (*this)[slot];
  entry.status = Status::terminal;
  entry.settlement = std::move(settlement);
  entry.archive_at = archive_at;
  count_active(entry, -1);
}

void RunTable::erase(Slot slot) {
  Entry& entry = (*this)[slot];
  if (entry.status != Status::terminal) count_active(entry, -1);
  for (std::size_t role = 0; role < roles; ++role) {
    Name& name = names_[entry.name[role]];
    if (entry.previous[role] == none) {
      name.first[role] = entry.next[role];
    } else {
      (*this)[entry.previous[role]].next[role] = entry.next[role];
    }
    if (entry.next[role] != none) (*this)[entry.next[role]].previous[role] = entry.previous[role];
    name.count[role] -= 1;
  }
  for (const NameId name : entry.name) names_.release(name);
  ids_.erase(entry.id);
  entry = {};
  free_.push_back(slot);
}

Slot RunTable::find(RunId id) const {
  const auto found = ids_.find(id);
  return found == ids_.end() ? none : found->second;
}

RunView RunTable::view(Slot slot) const {
  const Entry& entry = (*this)[slot];
  const auto text = [&](By role) {
    return std::string_view(names_[entry.name[static_cast<std::size_t>(role)]].text);
  };
  return {entry.id,
          entry.child(),
          entry.generation,
          entry.status,
          entry.cleanup,
          entry.delivery,
          entry.recovered,
          entry.created,
          entry.archive_at,
          text(By::child),
          text(By::requester),
          text(By::controller),
          text(By::group),
          entry.label,
          entry.task,
          entry.payload,
          entry.settlement ? &*entry.settlement : nullptr};
}

Run RunTable::copy(Slot slot) const {
  const RunView view = this->view(slot);
  Run run;
  run.child = view.child;
  run.requester = view.requester;
  run.controller = view.controller;
  run.group = view.group;
  run.label = view.label;
  run.task = view.task;
  run.payload = view.payload;
  run.cleanup = view.cleanup;
  run.id = view.id;
  run.generation = view.generation;
  run.status = view.status;
  run.delivery = view.delivery;
  run.recovered = view.recovered;
  run.created = view.created;
  run.archive_at = view.archive_at;
  if (view.settlement != nullptr) run.settlement = *view.settlement;
  return run;
}

std::size_t RunTable::count(By role, std::string_view text) const {
  const NameId name = names_.find(text);
  return name == none ? 0 : names_[name].count[static_cast<std::size_t>(role)];
}

std::size_t RunTable::active(By role, std::string_view text) const {
  const NameId name = names_.find(text);
  return name == none ? 0 : names_[name].active[static_cast<std::size_t>(role)];
}

std::uint32_t RunTable::next_generation(std::string_view child) const {
  const NameId name = names_.find(child);
  return name == none ? 1 : names_[name].newest_generation + 1;
}

}  // namespace tare::agents
