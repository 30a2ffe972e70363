#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <boost/describe.hpp>

#include "base/clock.hpp"

namespace tare::guest {

/// How the end of a guest became known to who waited for it.
BOOST_DEFINE_ENUM_CLASS(Route,
                        own_read,       ///< the waiting thread read it from the engine's socket
                        other_read,     ///< another thread that waited read it, and woke this one
                        already_known)  ///< it had been read before anybody waited for it

/// The moments of one guest, as this side of the socket sees them. Kept by an engine that traces.
struct Life {
  Instant spawned{};                     ///< the call to spawn began
  Instant sent{};                        ///< the request was in the socket
  std::optional<Instant> started;        ///< the word that it has started was read
  std::optional<Instant> exit_received;  ///< the word of its end was read
  std::optional<Instant> exit_known;     ///< and understood
  std::optional<Instant> told;           ///< who waits was woken
  std::optional<Instant> wait_began;
  std::optional<Instant> observed;  ///< the waiting thread found that it has ended
  std::optional<Instant> returned;  ///< the call that waited had its event
  std::optional<Instant> spawn_returned;
  std::thread::id reader;  ///< who read its end
  std::optional<Route> route;
  std::string first_waiter;                      ///< the first call that waited for anything of it
  std::map<std::string, std::uint64_t> waiters;  ///< how many calls waited, by their names
};

/// The phases of a life in nanoseconds, under the seed's names (docs/run-document.md), as far as there are
/// such.
std::map<std::string, std::int64_t> phases(const Life& life);

/// Why there are no others.
const std::map<std::string, std::string>& absent_phases();

}  // namespace tare::guest
