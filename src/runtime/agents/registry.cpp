#include "runtime/agents/registry.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tare::agents {
namespace {

Error unknown(RunId id) {
  return Error(ErrorCode::failed, fmt::format("there is no run {}", text_of(id)));
}

}  // namespace

Registry::Registry(Loop& loop, Store& store, const Clock& clock, RegistryOptions options)
    : loop_(loop), store_(store), clock_(clock), options_(options) {}

std::size_t Registry::restore() {
  store_.load([&](Run run) {
    last_id_ = std::max(last_id_, run.id);
    if (run.status != Status::terminal) run.status = Status::interrupted;
    table_.insert(run);
  });
  return table_.size();
}

RunId Registry::next_id(WallTime now) {
  // The clock makes ids unique over restarts without keeping the last one: 20 bits a millisecond.
  const RunId by_clock = static_cast<RunId>(now.time_since_epoch().count()) << 20;
  return last_id_ = std::max(last_id_ + 1, by_clock);
}

Task<RunId> Registry::add(NewRun wanted) {
  Run run;
  static_cast<NewRun&>(run) = std::move(wanted);
  run.created = clock_.wall();
  run.id = next_id(run.created);
  run.generation = table_.next_generation(run.child);
  run.status = Status::queued;
  const RunId id = run.id;
  if (!store_.durable()) {
    run.status = Status::running;
    table_.insert(run);
    co_return id;
  }
  table_.insert(run);
  std::vector<Change> changes;
  changes.emplace_back(Insert{std::move(run)});
  try {
    co_await store_.write(std::move(changes));
  } catch (...) {
    if (const Slot slot = table_.find(id); slot != none) forget(slot);
    throw;
  }
  if (const Slot slot = table_.find(id); slot != none && table_[slot].status == Status::queued)
    table_[slot].status = Status::running;
  co_return id;
}

Task<bool> Registry::settle(RunId id, Outcome outcome, std::string result) {
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
  if (slot == none || table_[slot].settling || table_[slot].status == Status::terminal) return std::nullopt;
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
  const Slot slot = table_.find(id);
  if (slot == none) throw unknown(id);
  if (store_.durable()) {
    std::vector<Change> changes;
    changes.emplace_back(Mark{id, delivery, table_[slot].recovered});
    co_await store_.write(std::move(changes));
  }
  if (const Slot now = table_.find(id); now != none) table_[now].delivery = delivery;
}

Task<void> Registry::mark_recovered(std::vector<RunId> ids) {
  std::vector<Change> changes;
  for (const RunId id : ids) {
    const Slot slot = table_.find(id);
    if (slot == none) continue;
    table_[slot].recovered = true;
    if (store_.durable()) changes.emplace_back(Mark{id, table_[slot].delivery, true});
  }
  if (changes.empty()) co_return;
  try {
    co_await store_.write(std::move(changes));
  } catch (...) {
    for (const RunId id : ids) {
      if (const Slot slot = table_.find(id); slot != none) table_[slot].recovered = false;
    }
    throw;
  }
}

Task<Registry::Erased> Registry::erase(std::vector<RunId> ids) {
  if (store_.durable()) {
    std::vector<Change> changes;
    for (const RunId id : ids) {
      if (table_.find(id) != none) changes.emplace_back(Erase{id});
    }
    if (!changes.empty()) co_await store_.write(std::move(changes));
  }
  Erased erased;
  for (const RunId id : ids) {
    const Slot slot = table_.find(id);
    if (slot == none) continue;
    if (table_.is_last(slot)) erased.sessions.emplace_back(table_.view(slot).child);
    forget(slot);
    erased.runs += 1;
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
