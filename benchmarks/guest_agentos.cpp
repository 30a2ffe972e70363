#include "guest_lanes.hpp"
#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

/// Both fill their pools when the last guest has left.
constexpr auto agentos_idle = std::chrono::milliseconds(100);
constexpr std::size_t agentos_warmup = 2;

Measurement measure_against_agentos(const std::string& row, const Rounds& rounds) {
  SpawnLane agentos("agentos", row);
  SpawnLane guest("guest", row);
  for (std::size_t i = 0; i < agentos_warmup; ++i) {
    guest.total_ms(agentos_idle);
    agentos.total_ms(agentos_idle);
  }
  const auto figures = interleave(
      {[&] { return guest.total_ms(agentos_idle); }, [&] { return agentos.total_ms(agentos_idle); }}, rounds);
  return p50_against(figures[0], figures[1], row + ", each after 100 ms of rest");
}

/// agentOS takes about a second for 32 guests.
Measurement measure_fanout() {
  return measure_against_agentos("fanout_32", {.fewest = 8, .most = 60, .limit = std::chrono::seconds(40)});
}

Measurement measure_nested() {
  return measure_against_agentos("nested_8", {.fewest = 30, .most = 100, .limit = std::chrono::seconds(40)});
}

}  // namespace

Benchmark guest_fanout_32() {
  return {{"guest.fanout_32",
           "fanout_32 p50: 32 guests at once with a pool of 8, against agentOS",
           "ms",
           Judged::ratio,
           {{}, 0.125}},
          measure_fanout};
}

Benchmark guest_nested_8() {
  return {{"guest.nested_8",
           "nested_8 p50: a guest that starts 8 with child_process, against agentOS",
           "ms",
           Judged::ratio,
           {{}, 0.125}},
          measure_nested};
}

}  // namespace tare::benchmarks
