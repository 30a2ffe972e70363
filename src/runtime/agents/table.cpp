#include "runtime/agents/table.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tare::agents {

static_assert(sizeof(Entry) == 128);

Texts::Texts(std::string_view label, std::string_view task, std::string_view payload,
             std::string_view result) {
  const std::array<std::string_view, 4> parts{label, task, payload, result};
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < parts.size(); ++i)
    ends_[i] = size += static_cast<std::uint32_t>(parts[i].size());
  bytes_ = std::make_unique_for_overwrite<char[]>(size);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].empty())
      std::memcpy(bytes_.get() + ends_[i] - parts[i].size(), parts[i].data(), parts[i].size());
  }
}

std::string_view Texts::part(std::size_t i) const {
  const std::uint32_t begin = i == 0 ? 0 : ends_[i - 1];
  return {bytes_.get() + begin, ends_[i] - begin};
}

Slot RunTable::insert(const Run& run, Status status) {
  const Slot slot = free_ == none ? static_cast<Slot>(entries_.grow()) : free_;
  if (slot == free_) free_ = entries_[slot].next[0];
  ids_.emplace(run.id, slot);
  Entry& entry = entries_[slot];
  entry.id = run.id;
  entry.generation = run.generation;
  entry.status = status;
  entry.cleanup = run.cleanup;
  entry.delivery = run.delivery;
  entry.recovered = run.recovered;
  entry.created = run.created;
  entry.archive_at = run.archive_at.value_or(Entry::never);
  entry.texts = {run.label, run.task, run.payload,
                 run.settlement ? std::string_view(run.settlement->result) : std::string_view()};
  if (run.settlement) {
    entry.outcome = run.settlement->outcome;
    entry.ended = run.settlement->ended;
  }
  const std::array<std::string_view, roles> texts{run.child, run.requester, run.controller, run.group};
  for (std::size_t role = 0; role < roles; ++role) {
    entry.name[role] = names_.use(texts[role]);
    Name& name = names_[entry.name[role]];
    entry.previous[role] = none;
    entry.next[role] = name.first[role];
    if (name.first[role] != none) entries_[name.first[role]].previous[role] = slot;
    name.first[role] = slot;
    name.count[role] += 1;
  }
  Name& child = names_[entry.child()];
  child.newest_generation = std::max(child.newest_generation, entry.generation);
  if (entry.is_active()) count_active(entry, 1);
  return slot;
}

void RunTable::count_active(const Entry& entry, int by) {
  active_ += static_cast<std::size_t>(by);
  for (std::size_t role = 0; role < roles; ++role)
    names_[entry.name[role]].active[role] += static_cast<std::uint32_t>(by);
}

void RunTable::acknowledge(Slot slot) {
  entries_[slot].status = Status::running;
  count_active(entries_[slot], 1);
}

void RunTable::settle(Slot slot, const Settlement& settlement, std::optional<WallTime> archive_at) {
  Entry& entry = entries_[slot];
  count_active(entry, -1);
  entry.status = Status::terminal;
  entry.outcome = settlement.outcome;
  entry.ended = settlement.ended;
  entry.archive_at = archive_at.value_or(Entry::never);
  if (!settlement.result.empty())
    entry.texts = {entry.texts.label(), entry.texts.task(), entry.texts.payload(), settlement.result};
}

void RunTable::erase(Slot slot) {
  Entry& entry = entries_[slot];
  if (entry.is_active()) count_active(entry, -1);
  for (std::size_t role = 0; role < roles; ++role) {
    Name& name = names_[entry.name[role]];
    if (entry.previous[role] == none) {
      name.first[role] = entry.next[role];
    } else {
      entries_[entry.previous[role]].next[role] = entry.next[role];
    }
    if (entry.next[role] != none) entries_[entry.next[role]].previous[role] = entry.previous[role];
    name.count[role] -= 1;
    if (name.uses == 1 && name.suppressed > 0) suppressed_ -= 1;  // nobody is left to be suppressed
    names_.release(entry.name[role]);
  }
  ids_.erase(entry.id);
  entry = {};
  entry.next[0] = std::exchange(free_, slot);
}

void RunTable::reserve(std::size_t runs) {
  ids_.reserve(runs);
  names_.reserve(runs);
}

Slot RunTable::find(RunId id) const {
  const auto found = ids_.find(id);
  return found == ids_.end() ? none : found->second;
}

RunView RunTable::view(Slot slot) const {
  const Entry& entry = entries_[slot];
  const auto text = [&](By role) {
    return std::string_view(names_[entry.name[static_cast<std::size_t>(role)]].text);
  };
  RunView view{entry.id,
               entry.child(),
               entry.generation,
               entry.status,
               entry.cleanup,
               entry.delivery,
               entry.recovered,
               entry.created,
               {},
               text(By::child),
               text(By::requester),
               text(By::controller),
               text(By::group),
               entry.texts.label(),
               entry.texts.task(),
               entry.texts.payload(),
               {},
               {},
               entry.texts.result()};
  if (entry.archive_at != Entry::never) view.archive_at = entry.archive_at;
  if (entry.status == Status::terminal) {
    view.outcome = entry.outcome;
    view.ended = entry.ended;
  }
  return view;
}

RunKey RunTable::key(Slot slot) const {
  const Entry& entry = entries_[slot];
  return {entry.id, entry.child(), entry.generation};
}

Settlement RunTable::settlement(Slot slot) const {
  const Entry& entry = entries_[slot];
  return {entry.outcome, entry.ended, std::string(entry.texts.result())};
}

std::size_t RunTable::count(By role, std::string_view text) const {
  const NameId name = names_.find(text);
  return name == none ? 0 : names_[name].count[static_cast<std::size_t>(role)];
}

std::size_t RunTable::active(By role, std::string_view text) const {
  const NameId name = names_.find(text);
  return name == none ? 0 : names_[name].active[static_cast<std::size_t>(role)];
}

bool RunTable::is_last(Slot slot) const {
  return names_[entries_[slot].child()].count[static_cast<std::size_t>(By::child)] == 1;
}

std::uint32_t RunTable::next_generation(std::string_view child) const {
  const NameId name = names_.find(child);
  return name == none ? 1 : names_[name].newest_generation + 1;
}

void RunTable::suppress(std::string_view child) {
  const NameId name = names_.find(child);
  if (name != none && names_[name].suppressed++ == 0) suppressed_ += 1;
}

void RunTable::unsuppress(std::string_view child) {
  const NameId name = names_.find(child);
  if (name == none || names_[name].suppressed == 0) return;
  if (--names_[name].suppressed == 0) suppressed_ -= 1;
}

}  // namespace tare::agents
