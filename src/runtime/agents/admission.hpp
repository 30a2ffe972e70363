#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <boost/unordered/unordered_map.hpp>

#include "runtime/agents/text_hash.hpp"

namespace tare::agents {

/// Why a child may not be started: the limit that governs, and the numbers.
struct Refusal {
  std::string cap;  ///< "maxChildrenPerAgent"
  std::uint64_t limit = 0;
  std::uint64_t current = 0;  ///< what there is already

  /// "maxChildrenPerAgent is 5, and 5 are there".
  std::string text() const;
};

/// What asks for a slot.
struct Demand {
  std::string_view controller;
  std::string_view child = {};  ///< empty: not known yet
  std::string_view group = {};
};

/// Slots that are reserved for children which are not registered yet.
struct Pending {
  std::uint64_t controller = 0;
  std::uint64_t group = 0;
  std::uint64_t all = 0;
};

class Admission;

/// A slot, held until it is released or goes out of scope.
class Reservation {
 public:
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&&) = delete;
  ~Reservation() { release(); }

  /// Any call but the first does nothing.
  void release();

 private:
  friend class Admission;
  /// How many reservations have a name. Its place in the map is the same until none has it.
  using Count = std::pair<const std::string, std::uint64_t>;
  Reservation(Admission& admission, Count* controller, Count* child, Count* group)
      : admission_(&admission), controller_(controller), child_(child), group_(group) {}

  Admission* admission_;
  Count* controller_;
  Count* child_;  ///< null when it is not known yet
  Count* group_;  ///< null when it has none
};

/// Counts the slots that are reserved, per controller and group. Not thread-safe; must outlive its
/// reservations.
class Admission {
 public:
  /// Asks `decide(pending)`, which returns an optional Refusal. A child session that somebody is starting
  /// already is refused without asking ("childBeingStarted").
  template <class Decide>
  std::variant<Reservation, Refusal> reserve(const Demand& demand, const Decide& decide) {
    if (std::optional<Refusal> refusal = taken(demand)) return *std::move(refusal);
    if (std::optional<Refusal> refusal = decide(pending(demand))) return *std::move(refusal);
    return hold(demand);
  }

  std::uint64_t pending() const { return all_; }
  Pending pending(const Demand& demand) const;

 private:
  friend class Reservation;
  using Counts = boost::unordered_map<std::string, std::uint64_t, TextHash, std::equal_to<>>;

  std::optional<Refusal> taken(const Demand& demand) const;
  Reservation hold(const Demand& demand);
  static Reservation::Count* add(Counts& counts, std::string_view name);
  static void remove(Counts& counts, Reservation::Count* count);
  void release(const Reservation& reservation);

  Counts controllers_;
  Counts children_;
  Counts groups_;
  std::uint64_t all_ = 0;
};

/// The usual limits.
struct Caps {
  std::uint64_t max_spawn_depth = 5;
  std::uint64_t max_children_per_agent = 5;  ///< 1 to 20
  std::optional<std::uint64_t> max_per_group;
  std::optional<std::uint64_t> max_in_all_groups;
};

/// Throws Error(usage) that names the cap and its range.
void check(const Caps& caps);

/// What there is already besides the reservations: runs that have not ended.
struct Load {
  std::uint64_t depth = 0;  ///< of the controller: 0 for one that nobody spawned
  std::uint64_t children = 0;
  std::uint64_t in_group = 0;
  std::uint64_t in_all_groups = 0;
};

/// The usual policy, for `Admission::reserve`. The first limit that is reached governs.
std::optional<Refusal> decide(const Caps& caps, const Load& load, const Pending& pending);

}  // namespace tare::agents
