#include "guest_lanes.hpp"
#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

/// agentOS makes ready for its next guest when it has told of an end: that is its own work, and nobody
/// else's sample should have it as a neighbour.
constexpr auto cold_idle = std::chrono::milliseconds(20);
constexpr std::size_t cold_warmup = 5;

/// The worse of the two ratios is judged; the other one stands in the note.
Measurement measure_cold() {
  SpawnLane agentos("agentos", "node_exit_1");
  SpawnLane node("native", "node_exit_1");
  SpawnLane guest("guest_cold", "node_exit_1");
  const std::vector<Lane> lanes{[&] { return guest.total_ms(cold_idle); },
                                [&] { return agentos.total_ms(cold_idle); },
                                [&] { return node.total_ms(cold_idle); }};
  for (std::size_t i = 0; i < cold_warmup; ++i) {
    for (const Lane& lane : lanes) lane();
  }
  const auto figures = interleave(lanes, {.fewest = 60, .most = 300, .limit = std::chrono::seconds(40)});
  Measurement to_agentos = p50_against(figures[0], figures[1], "one process each, --pool 0; against agentOS");
  Measurement to_node = p50_against(figures[0], figures[2], "one process each, --pool 0; against host Node");
  if (to_agentos.ratio.value() > to_node.ratio.value()) {
    to_agentos.note += "; " + beside("against host Node", to_node, "ms");
    return to_agentos;
  }
  to_node.note += "; " + beside("against agentOS", to_agentos, "ms");
  return to_node;
}

}  // namespace

Benchmark guest_spawn_cold() {
  return {
      {"guest.spawn_cold",
       "node_exit_1 p50 of a guest without a pool, against agentOS and against host Node: the worse ratio",
       "ms",
       Judged::ratio,
       {{}, 0.2}},
      measure_cold};
}

}  // namespace tare::benchmarks
