#include "runtime/guest/life.hpp"

#include <algorithm>

namespace tare::guest {

std::map<std::string, std::int64_t> phases(const Life& life) {
  std::map<std::string, std::int64_t> all;
  const auto put = [&](const char* name, const std::optional<Instant>& from,
                       const std::optional<Instant>& to) {
    if (from && to) all[name] = std::max(Nanoseconds(0), Nanoseconds(*to - *from)).count();
  };
  put("ts_start_total", life.spawned, life.started);
  put("ts_execute_rpc", life.sent, life.started);
  put("ts_spawn_to_wait_begin", life.spawn_returned, life.wait_began);
  put("ts_wait_total", life.wait_began, life.returned);
  put("ts_exit_event_received", life.spawned, life.exit_received);
  put("ts_exit_finish_begin", life.spawned, life.exit_known);
  put("ts_exit_event_to_finish", life.exit_received, life.exit_known);
  put("ts_finish_total", life.exit_known, life.told);
  put("ts_wait_promise_observed", life.spawned, life.observed);
  put("ts_finish_to_wait_observed", life.exit_known, life.observed);
  put("ts_wait_observed_to_return", life.observed, life.returned);
  put("ts_wait_return", life.spawned, life.returned);
  // Of one that had started before anybody waited: nothing.
  if (life.wait_began && life.started)
    all["ts_wait_blocked_on_start"] = std::max(Nanoseconds(0), *life.started - *life.wait_began).count();
  return all;
}

const std::map<std::string, std::string>& absent_phases() {
  static const std::map<std::string, std::string> absent = [] {
    const std::string no_poll = "nothing is polled: the word of the end itself wakes who waits";
    const std::string no_output = "the output of these rows is ignored: there is none to wait for";
    const std::string no_release = "nothing of a guest is left to release once its end is known";
    return std::map<std::string, std::string>{
        {"ts_trailing_output_drain", no_output},
        {"ts_output_events", no_output},
        {"ts_output_signal_refresh", no_output},
        {"ts_output_listener_dispatch", no_output},
        {"ts_snapshot_poll_sleep", no_poll},
        {"ts_snapshot_refresh", no_poll},
        {"ts_poll_iterations", no_poll},
        {"ts_release_drain", no_release},
        {"ts_release_total", no_release},
        {"ts_signal_refresh", "the client keeps no table of signals that a start would refresh"},
        {"ts_mount_wait", "a machine has its mounts before anything starts in it"},
        {"ts_finish_snapshot_update", "the client keeps no table of processes that an end would update"},
        {"ts_finish_resolve_wait", "who waits is woken within ts_finish_total"},
    };
  }();
  return absent;
}

}  // namespace tare::guest
