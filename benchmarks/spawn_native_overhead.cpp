#include <fmt/format.h>

#include "base/text.hpp"
#include "benchmark.hpp"
#include "lab/measure/bootstrap.hpp"
#include "lab/measure/random.hpp"
#include "lab/measure/summary.hpp"
#include "peer.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::size_t native_warmup = 50;

double bare_ms(Peer& bare) {
  const std::string answer = bare.ask("");
  const auto ns = text::to_double(answer);
  if (!ns) throw Error(ErrorCode::failed, "bare_spawn answered '" + text::one_line(answer) + "'");
  return *ns / 1e6;
}

/// One spawn each a round, asked for over a pipe, in an order that is balanced over rounds: both sides come
/// out of the same sleep and find the same caches.
Measurement measure_native_overhead() {
  driver::Driver floor(spawner({"--lane", "sh"}));
  Peer bare({helper("bare_spawn")});
  std::vector<double> ours;
  std::vector<double> theirs;
  const std::size_t rounds =
      repeat(300, 4000 + native_warmup, std::chrono::seconds(30), [&](std::size_t round) {
        double our_ms = 0;
        double their_ms = 0;
        for (const std::size_t lane : measure::lane_order(seed, round, 2)) {
          if (lane == 0) {
            our_ms = take(floor, "exec_true", 1).front().metric("total").value() / 1e6;
          } else {
            their_ms = bare_ms(bare);
          }
        }
        if (round < native_warmup) return;
        ours.push_back(our_ms);
        theirs.push_back(their_ms);
      });
  floor.bye();
  const measure::Comparison ratio = measure::quantile_ratio_paired(ours, theirs, 0.5, seed);
  const auto p50 = [](std::vector<double> samples) { return measure::summarise(std::move(samples)).p50; };
  return {p50(ours),
          p50(theirs),
          ratio.ratio,
          ratio.ratio_interval,
          fmt::format("{} rounds of one spawn each", rounds - native_warmup),
          std::nullopt};
}

}  // namespace

Benchmark spawn_native_overhead() {
  return {{"spawn.native_overhead",
           "exec_true p50 in tare-spawner, against a bare C loop of posix_spawn + waitid",
           "ms",
           Judged::ratio,
           {{}, 1.05}},
          measure_native_overhead};
}

}  // namespace tare::benchmarks
