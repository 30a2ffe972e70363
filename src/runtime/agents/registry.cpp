#include "runtime/agents/registry.hpp"

#include <algorithm>

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/error.hpp"

namespace tare::agents {
namespace {

Error unknown(RunId id) {
  return Error(ErrorCode::failed, fmt::format("there is no run {}", text_of(id)));
}

std::exception_ptr aborted() {
  return std::make_exception_ptr(boost::system::system_error(asio::error::operation_aborted));
}

}  // namespace

Registry::Registry(asio::any_io_executor executor, Store& store, const Clock& clock, RegistryOptions options)
    : executor_(std::move(executor)), store_(store), clock_(clock), options_(options) {}

Registry::~Registry() {
  for (Slot slot = 0; slot < table_.slots(); ++slot) {
    for (Waiter& waiter : table_[slot].waiters) answer(waiter, aborted(), {});
  }
}

std::size_t Registry::restore() {
  store_.load([&](Run run) {
    last_id_ = std::max(last_id_, run.id);
    if (run.status != Status::terminal) run.status = Status::interrupted;
    table_.insert(std::move(run));
  });
  return table_.size();
}

RunId Registry::next_id() {
  // The clock makes ids unique over restarts without keeping the last one: 20 bits a millisecond.
  const RunId by_clock = static_cast<RunId>(clock_.wall().time_since_epoch().count()) << 20;
  return last_id_ = std::max(last_id_ + 1, by_clock);
}

asio::awaitable<RunId> Registry::add(NewRun wanted) {
  Run run;
  static_cast<NewRun&>(run) = std::move(wanted);
  run.id = next_id();
  run.generation = table_.next_generation(run.child);
  run.status = Status::queued;
  run.created = clock_.wall();
  const RunId id = run.id;
  if (!store_.durable()) {
    run.status = Status::running;
    table_.insert(std::move(run));
    co_return id;
  }
  std::vector<Change> changes;
  changes.emplace_back(Insert{run});
  table_.insert(std::move(run));
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

asio::awaitable<bool> Registry::settle(RunId id, Outcome outcome, std::string result) {
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
  end_settling(*std::move(settle));
  co_return true;
}

asio::awaitable<std::size_t> Registry::settle_all(std::vector<RunId> ids, Outcome outcome) {
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
  for (Change& change : changes) end_settling(std::get<Settle>(std::move(change)));
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

void Registry::end_settling(Settle settle) {
  const Slot slot = table_.find(settle.id);
  if (slot == none) return;  // erased right after it had been settled
  table_[slot].settling = false;
  table_.settle(slot, std::move(settle.settlement), settle.archive_at);
  tell(table_[slot]);
}

void Registry::give_up_settling(RunId id) {
  if (const Slot slot = table_.find(id); slot != none) table_[slot].settling = false;
}

void Registry::tell(Entry& entry) {
  waiting_ -= entry.waiters.size();
  for (Waiter& waiter : entry.waiters) answer(waiter, nullptr, *entry.settlement);
  entry.waiters.clear();
  entry.waiters.shrink_to_fit();
}

asio::awaitable<Settlement> Registry::wait(RunId id) {
  const Slot slot = table_.find(id);
  if (slot == none) throw unknown(id);
  if (table_[slot].settlement) co_return *table_[slot].settlement;
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>,
                                          void(std::exception_ptr, Settlement)>(
      [](auto handler, Registry* registry, RunId run) {
        const std::uint64_t ticket = ++registry->last_ticket_;
        auto cancel = asio::get_associated_cancellation_slot(handler);
        if (cancel.is_connected()) {
          cancel.assign(
              [registry, run, ticket](asio::cancellation_type) { registry->give_up_waiting(run, ticket); });
        }
        registry->table_[registry->table_.find(run)].waiters.push_back({ticket, std::move(handler)});
        registry->waiting_ += 1;
      },
      asio::use_awaitable, this, id);
}

void Registry::give_up_waiting(RunId id, std::uint64_t ticket) {
  const Slot slot = table_.find(id);
  if (slot == none) return;
  std::vector<Waiter>& waiters = table_[slot].waiters;
  const auto found = std::ranges::find(waiters, ticket, &Waiter::ticket);
  if (found == waiters.end()) return;
  answer(*found, aborted(), {});
  waiters.erase(found);
  waiting_ -= 1;
}

void Registry::answer(Waiter& waiter, const std::exception_ptr& failure, const Settlement& settlement) {
  asio::post(executor_, asio::append(std::move(waiter.handler), failure, settlement));
}

asio::awaitable<void> Registry::mark(RunId id, Delivery delivery) {
  const Slot slot = table_.find(id);
  if (slot == none) throw unknown(id);
  if (store_.durable()) {
    std::vector<Change> changes;
    changes.emplace_back(Mark{id, delivery, table_[slot].recovered});
    co_await store_.write(std::move(changes));
  }
  if (const Slot now = table_.find(id); now != none) table_[now].delivery = delivery;
}

asio::awaitable<void> Registry::mark_recovered(const std::vector<RunId>& ids) {
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

asio::awaitable<std::size_t> Registry::erase(std::vector<RunId> ids) {
  std::erase_if(ids, [&](RunId id) { return table_.find(id) == none; });
  if (store_.durable() && !ids.empty()) {
    std::vector<Change> changes;
    changes.reserve(ids.size());
    for (const RunId id : ids) changes.emplace_back(Erase{id});
    co_await store_.write(std::move(changes));
  }
  std::size_t erased = 0;
  for (const RunId id : ids) {
    const Slot slot = table_.find(id);
    if (slot == none) continue;
    forget(slot);
    erased += 1;
  }
  co_return erased;
}

void Registry::forget(Slot slot) {
  Entry& entry = table_[slot];
  waiting_ -= entry.waiters.size();
  for (Waiter& waiter : entry.waiters) answer(waiter, std::make_exception_ptr(unknown(entry.id)), {});
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

void Registry::suppress(std::string_view child) {
  if (const NameId name = table_.names().find(child); name != none) table_.names()[name].suppressed += 1;
}

void Registry::unsuppress(std::string_view child) {
  const NameId name = table_.names().find(child);
  if (name != none && table_.names()[name].suppressed > 0) table_.names()[name].suppressed -= 1;
}

}  // namespace tare::agents
