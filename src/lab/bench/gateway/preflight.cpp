#include "lab/bench/gateway/preflight.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::gateway_bench {
namespace {

constexpr std::uint64_t sessions_per_connection = 64;
constexpr std::uint64_t most_operators = 8;
constexpr std::uint64_t http_connections = 256;
constexpr std::uint64_t own_files = 128;  ///< pipes, databases, logs, libraries

}  // namespace

std::size_t operator_connections(std::uint64_t sessions) {
  return sessions <= sessions_per_connection ? 1 : most_operators;
}

Needs needs_of(const Options& options) {
  const std::uint64_t updates = options.session_updates > 0 ? options.session_update_clients : 0;
  const std::uint64_t clients = operator_connections(options.concurrency) + options.subscribers + 1 +
                                options.history_clients + updates + http_connections;
  Needs needs;
  needs.lab_fds = clients + own_files;
  needs.ports = clients;
  // One that runs already is somebody else's, with limits of its own.
  if (options.targets == std::vector<std::string>{"url"}) return needs;
  needs.gateway_fds = clients + options.concurrency + own_files;
  needs.ports += options.concurrency;
  return needs;
}

Machine read_machine() {
  Machine machine;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    machine.fds = limit.rlim_cur;
  }
  std::uint64_t low = 32'768;
  std::uint64_t high = 60'999;
  if (std::FILE* file = std::fopen("/proc/sys/net/ipv4/ip_local_port_range", "re")) {
    if (std::fscanf(file, "%lu %lu", &low, &high) != 2 || high < low) low = high = 0;
    std::fclose(file);
  }
  machine.ports = high - low + 1;
  return machine;
}

void check_fits(const Needs& needs, const Machine& machine) {
  const auto check = [](std::uint64_t needed, std::uint64_t there, std::string_view who,
                        std::string_view what, std::string_view hint) {
    if (needed <= there) return;
    throw Error(ErrorCode::unavailable,
                fmt::format("this load needs {} {} in {}", text::count(needed), what, who),
                fmt::format("there are {}", text::count(there)), std::string(hint));
  };
  constexpr std::string_view fds_hint = "`ulimit -n` raises the limit; or ask for less";
  check(needs.gateway_fds, machine.fds, "the gateway", "file descriptors", fds_hint);
  check(needs.lab_fds, machine.fds, "the lab", "file descriptors", fds_hint);
  check(needs.ports, machine.ports, "all", "local ports",
        "net.ipv4.ip_local_port_range widens the range; or ask for less");
}

}  // namespace tare::gateway_bench
