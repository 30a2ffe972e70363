#include <thread>

#include "base/text.hpp"
#include "guest_lanes.hpp"
#include "peer.hpp"
#include "registry_worker.hpp"

namespace tare::benchmarks {
namespace {

/// Long enough for the pool to make an isolate for the one that was taken.
constexpr auto pooled_idle = std::chrono::milliseconds(10);
constexpr std::size_t pooled_warmup = 50;

double bare_ms(Peer& bare) {
  std::this_thread::sleep_for(pooled_idle);
  const std::string answer = bare.ask("");
  const auto ns = text::to_double(answer);
  if (!ns) throw Error(ErrorCode::failed, "bare_spawn answered '" + text::one_line(answer) + "'");
  return *ns / 1e6;
}

/// Both are asked over a pipe, have slept as long, and take their own time.
Measurement measure_pooled() {
  SpawnLane guest("guest", "node_exit_1");
  Peer bare({helper("bare_spawn")});
  for (std::size_t i = 0; i < pooled_warmup; ++i) {
    guest.total_ms();
    bare.ask("");
  }
  const auto figures =
      interleave({[&] { return guest.total_ms(pooled_idle); }, [&] { return bare_ms(bare); }},
                 {.fewest = 300, .most = 2000, .limit = std::chrono::seconds(30)});
  return p50_against(figures[0], figures[1], "one process each, each after 10 ms of rest");
}

}  // namespace

Benchmark guest_spawn_pooled() {
  return {{"guest.spawn_pooled",
           "node_exit_1 p50 of a guest out of the pool of 8, against posix_spawn of /bin/true",
           "ms",
           Judged::ratio,
           {{}, 0.75}},
          measure_pooled};
}

}  // namespace tare::benchmarks
