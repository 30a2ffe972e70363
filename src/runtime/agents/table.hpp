#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/agents/names.hpp"
#include "runtime/agents/run.hpp"
#include "runtime/agents/task.hpp"

namespace tare::agents {

/// Who waits for a run to settle.
struct Waiter {
  std::uint64_t ticket;
  Resumer<Settlement> resume;
};

/// A run in memory. Its names are shared with other runs.
struct Entry {
  RunId id = 0;  ///< 0: the slot is free
  std::array<NameId, roles> name{};
  std::array<Slot, roles> next{none, none, none, none};
  std::array<Slot, roles> previous{none, none, none, none};
  std::uint32_t generation = 0;
  Status status = Status::queued;
  Cleanup cleanup = Cleanup::keep;
  Delivery delivery = Delivery::pending;
  bool recovered = false;
  bool settling = false;  ///< its settlement is on the way to the disk
  WallTime created{};
  std::optional<WallTime> archive_at;
  std::string label;
  std::string task;
  std::string payload;
  std::optional<Settlement> settlement;
  std::vector<Waiter> waiters;

  NameId child() const { return name[static_cast<std::size_t>(By::child)]; }
};

/// What a reader sees of a run. Its texts are valid until the registry changes.
struct RunView {
  RunId id;
  NameId child_id;  ///< equal for runs of the same child session
  std::uint32_t generation;
  Status status;
  Cleanup cleanup;
  Delivery delivery;
  bool recovered;
  WallTime created;
  std::optional<WallTime> archive_at;
  std::string_view child;
  std::string_view requester;
  std::string_view controller;
  std::string_view group;
  std::string_view label;
  std::string_view task;
  std::string_view payload;
  const Settlement* settlement;  ///< null until it is terminal
};

/// The runs of a registry: by id, and listed by each of their names. A slot is a run's place until it is
/// erased; slots up to `slots()` can be walked while runs come and go.
class RunTable {
 public:
  Slot insert(Run run);
  void erase(Slot slot);

  Slot find(RunId id) const;  ///< none when there is no such run
  Entry& operator[](Slot slot) { return chunks_[slot / chunk_size][slot % chunk_size]; }
  const Entry& operator[](Slot slot) const { return chunks_[slot / chunk_size][slot % chunk_size]; }
  std::size_t size() const { return ids_.size(); }
  Slot slots() const { return static_cast<Slot>(used_); }

  const Names& names() const { return names_; }
  Names& names() { return names_; }

  RunView view(Slot slot) const;
  Run copy(Slot slot) const;

  /// Calls `visit(slot)` for each run that has this name in this role, the newest first.
  template <class Visit>
  void each(By role, std::string_view text, Visit visit) const {
    const NameId name = names_.find(text);
    if (name == none) return;
    const auto r = static_cast<std::size_t>(role);
    for (Slot slot = names_[name].first[r]; slot != none; slot = (*this)[slot].next[r]) visit(slot);
  }
  std::size_t count(By role, std::string_view text) const;
  /// Of them, those that are not terminal.
  std::size_t active(By role, std::string_view text) const;
  std::size_t active() const { return active_; }

  /// The run is terminal from now on.
  void settle(Slot slot, Settlement settlement, std::optional<WallTime> archive_at);

  /// The generation that the next run of this child session gets.
  std::uint32_t next_generation(std::string_view child) const;

 private:
  static constexpr std::size_t chunk_size = 256;  // entries stay where they are when the table grows

  std::vector<std::unique_ptr<Entry[]>> chunks_;
  std::size_t used_ = 0;
  std::size_t active_ = 0;
  void count_active(const Entry& entry, int by);

  std::vector<Slot> free_;
  Names names_;
  boost::unordered_flat_map<RunId, Slot> ids_;
};

}  // namespace tare::agents
