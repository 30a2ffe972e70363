#include <fmt/format.h>

#include "base/text.hpp"
#include "benchmark.hpp"
#include "lab/driver/registry.hpp"
#include "lab/measure/paired.hpp"
#include "lab/measure/random.hpp"
#include "lab/measure/summary.hpp"
#include "peer.hpp"

namespace tare::benchmarks {
namespace {

/// The first guests make what later ones share, on both sides.
constexpr std::size_t agentos_driver_warmup = 5;
constexpr std::size_t fewest_rounds = 60;
constexpr std::size_t most_rounds = 600;
constexpr auto time_limit = std::chrono::seconds(40);

double loop_ms(Peer& loop) {
  const std::string answer = loop.ask("");
  const auto ns = text::to_double(answer);
  if (!ns) throw Error(ErrorCode::failed, "agentos_loop.mjs answered '" + text::one_line(answer) + "'");
  return *ns / 1e6;
}

/// One guest each a round, each side with a sidecar and a virtual machine of its own: while one works, the
/// other one's sidecar fills its pool, so both find the same neighbour.
Measurement measure_overhead() {
  driver::Driver ours_driver = start_target("agentos");
  const driver::TargetSpec agentos = driver::parse_target("agentos", {});
  Peer loop({driver::node_program({}).string(), helper("agentos_loop.mjs").string(), agentos.driver.back(),
             std::to_string(most_rounds + agentos_driver_warmup + 1)});
  std::vector<double> ours;
  std::vector<double> theirs;
  repeat(agentos_driver_warmup + 1, most_rounds + agentos_driver_warmup, time_limit, [&](std::size_t round) {
    double our_ms = 0;
    double their_ms = 0;
    for (const std::size_t lane : measure::lane_order(seed, round, 2)) {
      if (lane == 0) {
        our_ms = take(ours_driver, "node_exit_1", 1).front().metric("total").value() / 1e6;
      } else {
        their_ms = loop_ms(loop);
      }
    }
    if (round < agentos_driver_warmup) return;
    ours.push_back(our_ms);
    theirs.push_back(their_ms);
  });
  ours_driver.bye();
  const measure::Comparison ratio = measure::compare_paired(ours, theirs);
  const auto p50 = [](std::vector<double> samples) { return measure::summarise(std::move(samples)).p50; };
  const bool enough = ours.size() >= fewest_rounds;
  return {p50(ours),
          p50(theirs),
          ratio.ratio,
          enough ? ratio.ratio_interval : std::nullopt,
          fmt::format("{} rounds of one guest each{}", ours.size(),
                      enough ? "" : fmt::format(", {} are needed", fewest_rounds)),
          std::nullopt};
}

}  // namespace

Benchmark spawn_agentos_driver_overhead() {
  return {{"spawn.agentos_driver_overhead",
           "node_exit_1 p50 through agentOS's driver, against a loop written by hand on its SDK",
           "ms",
           Judged::ratio,
           {{}, 1.05}},
          measure_overhead};
}

}  // namespace tare::benchmarks
