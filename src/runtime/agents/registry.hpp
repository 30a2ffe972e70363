#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/clock.hpp"
#include "runtime/agents/store.hpp"
#include "runtime/agents/table.hpp"

namespace tare::agents {

struct RegistryOptions {
  /// From the end of a run whose cleanup is `remove` until a sweep may retire it.
  std::chrono::milliseconds archive_after = std::chrono::hours(1);
};

/// All runs: registered once, settled once, waited for by any number. Reads come from memory. A registration,
/// settlement or removal is acknowledged when the store has it; if the store fails, it did not happen.
///
/// Belongs to the thread of its executor. The store and the clock must outlive it, and it must outlive its
/// coroutines.
class Registry {
 public:
  Registry(asio::any_io_executor executor, Store& store, const Clock& clock, RegistryOptions options = {});
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  /// Whoever still waits gets a system_error, `operation_aborted`.
  ~Registry();

  /// Takes over what the store kept, before anything else. A run that had not ended comes back interrupted.
  /// Returns how many there are.
  std::size_t restore();

  /// Throws what the store throws; the run is then unknown.
  asio::awaitable<RunId> add(NewRun run);

  /// The first call settles and returns true, once all who wait have been told. Any other, and one for a run
  /// that there is not, returns false. Throws what the store throws; the run then goes on.
  asio::awaitable<bool> settle(RunId id, Outcome outcome, std::string result = {});

  /// Settles these runs alike, in one write. Returns how many of them this call settled.
  asio::awaitable<std::size_t> settle_all(std::vector<RunId> ids, Outcome outcome);

  /// Until the run is settled. Throws Error(failed) when there is no such run, or it is erased meanwhile.
  /// Can be cancelled.
  asio::awaitable<Settlement> wait(RunId id);

  asio::awaitable<void> mark(RunId id, Delivery delivery);

  /// Forgets these runs in one write; those that there are not are left out. Returns how many it forgot.
  asio::awaitable<std::size_t> erase(std::vector<RunId> ids);

  /// Says of these runs that their interruption was projected, in one write.
  asio::awaitable<void> mark_recovered(const std::vector<RunId>& ids);

  std::optional<RunView> find(RunId id) const;
  std::vector<RunView> runs(By role, std::string_view name) const;  ///< newest first
  std::size_t count(By role, std::string_view name) const { return table_.count(role, name); }
  /// The runs of this name that have not ended.
  std::size_t active(By role, std::string_view name) const { return table_.active(role, name); }

  std::size_t size() const { return table_.size(); }
  std::size_t open_tasks() const { return table_.active(); }  ///< of runs that have not ended
  std::size_t waiting() const { return waiting_; }

  /// Until `unsuppress`, no sweep touches this session's runs. Calls nest. The session has a run.
  void suppress(std::string_view child);
  void unsuppress(std::string_view child);

  const RunTable& table() const { return table_; }
  const Clock& clock() const { return clock_; }
  const asio::any_io_executor& executor() const { return executor_; }

 private:
  RunId next_id();
  /// Nothing when it is settled, or somebody is about to.
  std::optional<Settle> begin_settling(RunId id, Outcome outcome, std::string result);
  void end_settling(Settle settle);
  void give_up_settling(RunId id);
  void forget(Slot slot);
  void tell(Entry& entry);
  void give_up_waiting(RunId id, std::uint64_t ticket);
  void answer(Waiter& waiter, const std::exception_ptr& failure, const Settlement& settlement);

  asio::any_io_executor executor_;
  Store& store_;
  const Clock& clock_;
  RegistryOptions options_;
  RunTable table_;
  RunId last_id_ = 0;
  std::uint64_t last_ticket_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace tare::agents
