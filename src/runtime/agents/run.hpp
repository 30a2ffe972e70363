#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/describe.hpp>

#include "base/clock.hpp"

/// The registry of agent runs: which children agents have started, what became of them, and who waits for
/// it. Everything here belongs to one thread, the one of its executor, unless a comment says otherwise.
namespace tare::agents {

/// Unique in a registry, rising in the order of registration; over restarts too, unless the clock was set
/// back meanwhile. In text: "run-" and 16 hex digits.
using RunId = std::int64_t;

std::string text_of(RunId id);

/// Where a run stands. On disk a run that is not terminal is `running`; after a restart nobody works at it
/// any more, so it comes back `interrupted`.
enum class Status : std::uint8_t {
  queued,       ///< in memory, its registration is not acknowledged yet
  running,      ///< registered
  interrupted,  ///< it ran when its process was lost
  terminal,     ///< settled
};
BOOST_DESCRIBE_ENUM(Status, queued, running, interrupted, terminal)

enum class Outcome : std::uint8_t { ok, error, timeout, cancelled, lost };
BOOST_DESCRIBE_ENUM(Outcome, ok, error, timeout, cancelled, lost)

/// What becomes of a run, and of its session, once it is archived.
enum class Cleanup : std::uint8_t { keep, remove };
BOOST_DESCRIBE_ENUM(Cleanup, keep, remove)

/// Whether the requester has been told of the outcome.
enum class Delivery : std::uint8_t { pending, delivered, suppressed };
BOOST_DESCRIBE_ENUM(Delivery, pending, delivered, suppressed)

/// Of all texts of a run together, and of a result.
inline constexpr std::size_t text_limit = std::size_t{16} << 20;

/// What is known of a run when it is registered.
struct NewRun {
  std::string child;       ///< session that works at it: "agent:main:subagent:…"
  std::string requester;   ///< session that is told the outcome
  std::string controller;  ///< session whose slots it takes
  std::string group;       ///< of children that share a limit; may be empty
  std::string label;
  std::string task;     ///< what the child is to do
  std::string payload;  ///< JSON text; parsed by whoever wants it
  Cleanup cleanup = Cleanup::keep;
};

/// How a run ended.
struct Settlement {
  Outcome outcome = Outcome::ok;
  WallTime ended{};
  std::string result;  ///< JSON text, may be empty
};

/// A run in full, as a store keeps it.
struct Run : NewRun {
  RunId id = 0;
  std::uint32_t generation = 1;  ///< of its child session: 1, 2, …
  Status status = Status::running;
  Delivery delivery = Delivery::pending;
  bool recovered = false;  ///< its interruption has been projected
  WallTime created{};
  std::optional<WallTime> archive_at;  ///< from then on a sweep may retire it
  std::optional<Settlement> settlement;
};

}  // namespace tare::agents
