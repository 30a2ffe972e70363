#include "runtime/agents/registry.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "runtime/agents/dedupe.hpp"

namespace tare::agents {
namespace {

Error unknown(RunId id) {
  return Error(ErrorCode::failed, fmt::format("there is no run {}", text_of(id)));
}

void check_size(std::size_t size) {
  if (size <= text_limit) return;
  throw Error(ErrorCode::input, "a run's texts are too long",
              fmt::format("{} bytes, at most {}", size, text_limit));
}

}  // namespace

Registry::Registry(Loop& loop, Store& store, const Clock& clock, RegistryOptions options)
    : loop_(loop), store_(store), clock_(clock), options_(options) {}

std::size_t Registry::restore() {
  table_.reserve(store_.estimate());
  store_.load([&](const Run& run) {
    last_id_ = std::max(last_id_, run.id);
    table_.insert(run, run.status == Status::terminal ? Status::terminal : Status::interrupted);
  });
  return table_.size();
}

RunId Registry::next_id(WallTime now) {
  // The clock makes ids unique over restarts without keeping the last one: 20 bits a millisecond.
  const RunId by_clock = static_cast<RunId>(now.time_since_epoch().count()) << 20;
  return last_id_ = std::max(last_id_ + 1, by_clock);
}

Task<RunId> Registry::add(NewRun wanted) {
  check_size(wanted.child.size() + wanted.requester.size() + wanted.controller.size() + wanted.group.size() +
             wanted.label.size() + wanted.task.size() + wanted.payload.size());
  Run run;
  static_cast<NewRun&>(run) = std::move(wanted);
  run.created = clock_.wall();
  run.id = next_id(run.created);
  run.generation = table_.next_generation(run.child);
  const RunId id = run.id;
  if (!store_.durable()) {
    table_.insert(run, Status::running);
    co_return id;
  }
  table_.insert(run, Status::queued);
  std::vector<Change> changes;
  changes.emplace_back(Insert{std::move(run)});
  try {
    co_await store_.write(std::move(changes));
  } catch (...) {
    if (const Slot slot = table_.find(id); slot != none) forget(slot);
    throw;
  }
  if (const Slot slot = table_.find(id); slot != none) table_.acknowledge(slot);
  co_return id;
}

Task<bool> Registry::settle(RunId id, Outcome outcome, std::string result) {
  check_size(result.size());
  std::optional<Settle> settle = begin_settling(id, outcome, std::move(result));
  if (!settle) co_return false;
  if (store_.durable()) {
    std::vector<Change> changes;
    changes.emplace_back(*settle);
    try {
      co_await store_.write(std::move(changes));
    } catch (...) {
      give_up_settling(id);
      throw;
    }
  }
  end_settling(*settle);
  co_return true;
}

Task<std::size_t> Registry::settle_all(std::vector<RunId> ids, Outcome outcome) {
  std::vector<Change> changes;
  for (const RunId id : ids) {
    if (std::optional<Settle> settle = begin_settling(id, outcome, {}))
      changes.emplace_back(*std::move(settle));
  }
  if (store_.durable() && !changes.empty()) {
    try {
      co_await store_.write(changes);
    } catch (...) {
      for (const Change& change : changes) give_up_settling(std::get<Settle>(change).id);
      throw;
    }
  }
  for (const Change& change : changes) end_settling(std::get<Settle>(change));
  co_return changes.size();
}

std::optional<Settle> Registry::begin_settling(RunId id, Outcome outcome, std::string result) {
  const Slot slot = table_.find(id);
  if (slot == none || !table_[slot].is_active() || table_[slot].settling || table_[slot].erasing)
    return std::nullopt;
  table_[slot].settling = true;
  Settle settle{id, {outcome, clock_.wall(), std::move(result)}, {}};
  if (table_[slot].cleanup == Cleanup::remove)
    settle.archive_at = settle.settlement.ended + options_.archive_after;
  return settle;
}

void Registry::end_settling(const Settle& settle) {
  const Slot slot = table_.find(settle.id);
  if (slot == none) return;  // erased right after it had been settled
  table_[slot].settling = false;
  table_.settle(slot, settle.settlement, settle.archive_at);
  tell(slot);
}

void Registry::give_up_settling(RunId id) {
  if (const Slot slot = table_.find(id); slot != none) table_[slot].settling = false;
}

void Registry::tell(Slot slot) {
  const auto waiters = std::exchange(table_[slot].waiters, nullptr);
  if (!waiters) return;
  waiting_ -= waiters->size();
  for (const Waiter& waiter : *waiters) waiter.resume(table_.settlement(slot));
}

Task<Settlement> Registry::wait(RunId id, std::stop_token stop) {
  const Slot slot = table_.find(id);
  if (slot == none) throw unknown(id);
  if (table_[slot].status == Status::terminal) co_return table_.settlement(slot);
  if (stop.stop_requested()) throw Cancelled();
  const std::uint64_t ticket = ++last_ticket_;
  waiting_ += 1;
  // Registered after the waiter is there, and gone before this frame.
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
  co_return co_await suspend<Settlement>(loop_, [&](const Resumer<Settlement>& resume) {
    auto& waiters = table_[slot].waiters;
    if (!waiters) waiters = std::make_unique<std::vector<Waiter>>();
    waiters->push_back({ticket, resume});
    if (stop.stop_possible())
      on_stop.emplace(std::move(stop), [this, id, ticket] { give_up_waiting(id, ticket); });
  });
}

void Registry::give_up_waiting(RunId id, std::uint64_t ticket) {
  const Slot slot = table_.find(id);
  if (slot == none || !table_[slot].waiters) return;
  std::vector<Waiter>& waiters = *table_[slot].waiters;
  const auto found = std::ranges::find(waiters, ticket, &Waiter::ticket);
  if (found == waiters.end()) return;
  found->resume.fail(std::make_exception_ptr(Cancelled()));
  waiters.erase(found);
  waiting_ -= 1;
}

Task<void> Registry::mark(RunId id, Delivery delivery) {
  if (table_.find(id) == none) throw unknown(id);
  if (store_.durable()) {
    std::vector<Change> changes;
    changes.emplace_back(Deliver{id, delivery});
    co_await store_.write(std::move(changes));
  }
  if (const Slot slot = table_.find(id); slot != none) table_[slot].delivery = delivery;
}

Task<std::vector<Place>> Registry::mark_recovered(std::vector<Place> runs) {
  std::erase_if(runs, [&](const Place& run) {
    return !table_.has(run) || table_[run.slot].recovered || table_[run.slot].erasing;
  });
  for (const Place& run : runs) table_[run.slot].recovered = true;
  if (runs.empty() || !store_.durable()) co_return runs;
  std::vector<Change> changes;
  for (const Place& run : runs) changes.emplace_back(Recover{run.id});
  try {
    co_await store_.write(std::move(changes));
  } catch (...) {
    for (const Place& run : runs) {
      if (table_.has(run)) table_[run.slot].recovered = false;
    }
    throw;
  }
  co_return runs;
}

Task<Registry::Erased> Registry::erase(const std::vector<RunId>& ids) {
  std::vector<Place> runs;
  for (const RunId id : ids) {
    if (const Slot slot = table_.find(id); slot != none) runs.push_back({id, slot});
  }
  return erase_at(std::move(runs));
}

Task<Registry::Erased> Registry::erase_at(std::vector<Place> runs) {
  // From here on nobody else settles or erases them.
  std::erase_if(runs, [&](const Place& run) {
    return !table_.has(run) || table_[run.slot].status == Status::queued ||
           std::exchange(table_[run.slot].erasing, true);
  });
  if (store_.durable() && !runs.empty()) {
    std::vector<Change> changes;
    for (const Place& run : runs) changes.emplace_back(Erase{run.id});
    try {
      co_await store_.write(std::move(changes));
    } catch (...) {
      for (const Place& run : runs) table_[run.slot].erasing = false;
      throw;
    }
  }
  Erased erased;
  erased.runs = runs.size();
  for (const Place& run : runs) {
    if (table_.is_last(run.slot) && !table_.is_suppressed(run.slot))
      erased.sessions.emplace_back(table_.view(run.slot).child);
    forget(run.slot);
  }
  co_return erased;
}

void Registry::forget(Slot slot) {
  Entry& entry = table_[slot];
  if (entry.waiters) {
    waiting_ -= entry.waiters->size();
    for (const Waiter& waiter : *entry.waiters)
      waiter.resume.fail(std::make_exception_ptr(unknown(entry.id)));
  }
  table_.erase(slot);
}

std::vector<RunView> Registry::newest(By role, std::string_view name) const {
  std::vector<RunKey> keys;
  std::vector<Slot> slots;
  table_.each(role, name, [&](Slot slot) {
    keys.push_back(table_.key(slot));
    slots.push_back(slot);
  });
  std::vector<RunView> newest;
  for (const std::uint32_t i : newest_per_child(keys)) newest.push_back(table_.view(slots[i]));
  return newest;
}

std::optional<RunView> Registry::find(RunId id) const {
  const Slot slot = table_.find(id);
  return slot == none ? std::nullopt : std::optional(table_.view(slot));
}

std::vector<RunView> Registry::runs(By role, std::string_view name) const {
  std::vector<RunView> all;
  all.reserve(table_.count(role, name));
  table_.each(role, name, [&](Slot slot) { all.push_back(table_.view(slot)); });
  return all;
}

}  // namespace tare::agents
