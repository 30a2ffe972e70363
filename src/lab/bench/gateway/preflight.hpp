#pragma once

#include <cstdint>
#include <string>

#include "lab/bench/gateway/options.hpp"

namespace tare::gateway_bench {

/// Operator connections that carry the turns of so many sessions: as all events reach each of them, one for
/// each session would be quadratic.
std::size_t operator_connections(std::uint64_t sessions);

/// What a load takes of the machine, at most.
struct Needs {
  std::uint64_t lab_fds = 0;
  std::uint64_t gateway_fds = 0;  ///< the model server has fewer
  std::uint64_t ports = 0;        ///< local ports of connections, over all three
};
Needs needs_of(const Options& options);

struct Machine {
  std::uint64_t fds = 0;    ///< RLIMIT_NOFILE
  std::uint64_t ports = 0;  ///< ip_local_port_range
};
/// Of this process, after the soft limit was raised as far as it goes; children inherit it.
Machine read_machine();

/// Throws Error(unavailable) when the load does not fit: a run that ran out of them would have measured the
/// client.
void check_fits(const Needs& needs, const Machine& machine);

}  // namespace tare::gateway_bench
