#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "runtime/agents/chunks.hpp"
#include "runtime/agents/names.hpp"
#include "runtime/agents/run.hpp"
#include "runtime/agents/task.hpp"

namespace tare::agents {

/// Who waits for a run to settle.
struct Waiter {
  std::uint64_t ticket;
  Resumer<Settlement> resume;
};

/// The texts of a run, one after the other in one piece of memory.
class Texts {
 public:
  Texts() = default;
  Texts(std::string_view label, std::string_view task, std::string_view payload, std::string_view result);

  std::string_view label() const { return part(0); }
  std::string_view task() const { return part(1); }
  std::string_view payload() const { return part(2); }
  std::string_view result() const { return part(3); }

 private:
  std::string_view part(std::size_t i) const;
  std::unique_ptr<char[]> bytes_;
  std::array<std::uint32_t, 4> ends_{};
};

/// A run in memory: two cache lines, because a sweep over a million runs costs what it has to fetch. Its
/// names are shared with other runs.
struct alignas(64) Entry {
  RunId id = 0;  ///< 0: the slot is free
  WallTime archive_at = never;
  std::uint32_t generation = 0;
  Status status = Status::queued;
  Cleanup cleanup = Cleanup::keep;
  Delivery delivery = Delivery::pending;
  Outcome outcome = Outcome::ok;  ///< once it is terminal
  bool recovered = false;
  bool settling = false;  ///< its settlement is on the way to the disk
  bool erasing = false;   ///< its removal is
  std::array<NameId, roles> name{};
  std::array<Slot, roles> next{none, none, none, none};
  std::array<Slot, roles> previous{none, none, none, none};
  Texts texts;
  WallTime created{};
  WallTime ended{};  ///< once it is terminal
  std::unique_ptr<std::vector<Waiter>> waiters;

  static constexpr WallTime never = WallTime::max();
  NameId child() const { return name[static_cast<std::size_t>(By::child)]; }
  bool is_active() const { return status == Status::running || status == Status::interrupted; }
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
  std::optional<Outcome> outcome;  ///< of a terminal run, as are these
  std::optional<WallTime> ended;
  std::string_view result;
};

/// A run and where it is; it may have gone from there.
struct Place {
  RunId id;
  Slot slot;
};

/// Which run of which session, for a dedupe.
struct RunKey {
  RunId id;
  NameId child;
  std::uint32_t generation;
};

/// The runs of a registry: by id, and listed by each of their names. A slot is a run's place until it is
/// erased; slots up to `slots()` can be walked while runs come and go.
class RunTable {
 public:
  Slot insert(const Run& run, Status status);
  Slot insert(const Run& run) { return insert(run, run.status); }
  void erase(Slot slot);

  void reserve(std::size_t runs);

  Slot find(RunId id) const;  ///< none when there is no such run
  bool has(const Place& place) const { return entries_[place.slot].id == place.id; }
  Entry& operator[](Slot slot) { return entries_[slot]; }
  const Entry& operator[](Slot slot) const { return entries_[slot]; }
  std::size_t size() const { return ids_.size(); }
  Slot slots() const { return static_cast<Slot>(entries_.size()); }

  const Names& names() const { return names_; }

  RunView view(Slot slot) const;
  RunKey key(Slot slot) const;
  Settlement settlement(Slot slot) const;  ///< of a terminal run

  /// Calls `visit(slot)` for each run that has this name in this role, the newest first.
  template <class Visit>
  void each(By role, std::string_view text, Visit visit) const {
    const NameId name = names_.find(text);
    if (name == none) return;
    const auto r = static_cast<std::size_t>(role);
    for (Slot slot = names_[name].first[r]; slot != none; slot = (*this)[slot].next[r]) visit(slot);
  }
  std::size_t count(By role, std::string_view text) const;
  /// Of them, those that are registered and have not ended.
  std::size_t active(By role, std::string_view text) const;
  std::size_t active() const { return active_; }

  /// Whether this is the only run of its child session.
  bool is_last(Slot slot) const;

  /// A queued run is running from now on.
  void acknowledge(Slot slot);

  /// The run is terminal from now on.
  void settle(Slot slot, const Settlement& settlement, std::optional<WallTime> archive_at);

  /// The generation that the next run of this child session gets.
  std::uint32_t next_generation(std::string_view child) const;

  /// Sweeps leave the runs of this child session alone until it is called as often with the opposite.
  void suppress(std::string_view child);
  void unsuppress(std::string_view child);
  bool is_suppressed(Slot slot) const {
    return suppressed_ > 0 && names_[entries_[slot].child()].suppressed > 0;
  }

 private:
  void count_active(const Entry& entry, int by);

  Chunks<Entry> entries_;
  Slot free_ = none;  ///< the first free slot; each names the next one in next[0]
  Names names_;
  boost::unordered_flat_map<RunId, Slot> ids_;
  std::size_t active_ = 0;
  std::size_t suppressed_ = 0;
};

}  // namespace tare::agents
