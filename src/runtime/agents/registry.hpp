#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "runtime/agents/store.hpp"
#include "runtime/agents/table.hpp"

namespace tare::agents {

struct RegistryOptions {
  /// From the end of a run whose cleanup is `remove` until a sweep may retire it.
  std::chrono::milliseconds archive_after = std::chrono::hours(1);
};

/// A wait that was given up.
struct Cancelled : std::exception {
  const char* what() const noexcept override { return "cancelled"; }
};

/// All runs: registered once, settled once, waited for by any number. Reads come from memory. A registration,
/// settlement or removal is acknowledged when the store has it; if the store fails, it did not happen.
///
/// Belongs to the thread of its loop. Loop, store and clock must outlive it, and it must outlive its tasks.
class Registry {
 public:
  Registry(Loop& loop, Store& store, const Clock& clock, RegistryOptions options = {});
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Takes over what the store kept, before anything else. A run that had not ended comes back interrupted.
  /// Returns how many there are.
  std::size_t restore();

  /// Throws Error(input) for texts over the limit, and what the store throws; the run is then unknown.
  Task<RunId> add(NewRun run);

  /// The first call settles and returns true; who waits is told then. Any other, and one for a run that there
  /// is not, or not yet, or that is being erased, returns false. Throws Error(input) for a result over the
  /// limit, and what the store throws; the run then goes on.
  Task<bool> settle(RunId id, Outcome outcome, std::string result = {});

  /// Settles these runs alike, in one write. Returns how many of them this call settled.
  Task<std::size_t> settle_all(std::vector<RunId> ids, Outcome outcome);

  /// Until the run is settled. Throws Error(failed) when there is no such run, or it is erased meanwhile.
  /// Throws Cancelled when `stop` is requested first.
  Task<Settlement> wait(RunId id, std::stop_token stop = {});

  Task<void> mark(RunId id, Delivery delivery);

  struct Erased {
    std::size_t runs = 0;
    std::vector<std::string> sessions;  ///< children whose last run it was, but for suppressed ones
  };
  /// Forgets these runs in one write; those that there are not are left out.
  Task<Erased> erase(const std::vector<RunId>& ids);
  Task<Erased> erase_at(std::vector<Place> runs);

  /// Says of these runs that their interruption was projected, in one write. Returns those of which nobody
  /// had said so before.
  Task<std::vector<Place>> mark_recovered(std::vector<Place> runs);

  std::optional<RunView> find(RunId id) const;
  std::vector<RunView> runs(By role, std::string_view name) const;  ///< newest first
  /// Of these, the newest generation of each child session, newest first.
  std::vector<RunView> newest(By role, std::string_view name) const;
  std::size_t count(By role, std::string_view name) const { return table_.count(role, name); }
  /// The runs of this name that are registered and have not ended.
  std::size_t active(By role, std::string_view name) const { return table_.active(role, name); }

  std::size_t size() const { return table_.size(); }
  std::size_t open_tasks() const { return table_.active(); }  ///< of runs that have not ended
  std::size_t waiting() const { return waiting_; }

  /// Until `unsuppress`, no sweep touches this session's runs. Calls nest. The session has a run.
  void suppress(std::string_view child) { table_.suppress(child); }
  void unsuppress(std::string_view child) { table_.unsuppress(child); }

  const RunTable& table() const { return table_; }
  const Clock& clock() const { return clock_; }
  Loop& loop() const { return loop_; }

 private:
  RunId next_id(WallTime now);
  /// Nothing when it is settled, or somebody is about to.
  std::optional<Settle> begin_settling(RunId id, Outcome outcome, std::string result);
  void end_settling(const Settle& settle);
  void give_up_settling(RunId id);
  void forget(Slot slot);
  void tell(Slot slot);
  void give_up_waiting(RunId id, std::uint64_t ticket);

  Loop& loop_;
  Store& store_;
  const Clock& clock_;
  RegistryOptions options_;
  RunTable table_;
  RunId last_id_ = 0;
  std::uint64_t last_ticket_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace tare::agents
