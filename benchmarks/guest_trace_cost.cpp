#include <algorithm>

#include <fmt/format.h>

#include "base/file.hpp"
#include "guest_lanes.hpp"
#include "lab/measure/paired.hpp"
#include "lab/measure/summary.hpp"
#include "peer.hpp"
#include "runtime/guest_driver/scripts.hpp"

namespace tare::benchmarks {
namespace {

/// Two processes of one program are never quite as fast as each other: where their memory lies differs. So
/// every block has fresh engines, and what is judged is the spread of the blocks.
constexpr std::size_t fewest_blocks = 12;
constexpr std::size_t most_blocks = 60;
constexpr auto cost_limit = std::chrono::seconds(80);
constexpr std::size_t rounds_of_block = 12;
constexpr std::size_t warmup_of_block = 3;

/// As many as wait in the pool: none of them is cold. Their mean is one figure.
constexpr std::size_t guests_of_round = 8;

/// The engine that was built without the points of the trace.
guest::EngineOptions untraced_options() {
  guest::EngineOptions options;
  options.installation.lib = file::lib_folder() / "bench" / "guest_untraced";
  if (!std::filesystem::exists(options.installation.lib / "tare_guest.node"))
    throw Error(ErrorCode::unavailable, "the engine without tracing is not built", "",
                "`make bench` builds it");
  return options;
}

/// Mean time of one guest out of the full pool, in ms.
double untraced_round_ms(Guests& guests) {
  guests.settle();
  const SystemClock clock;
  const Instant begin = clock.now();
  for (std::size_t i = 0; i < guests_of_round; ++i) {
    guest::Execution guest = guests.start(guest_driver::exit_script);
    expect_success(guest);
  }
  return static_cast<double>((clock.now() - begin).count()) / 1e6 / static_cast<double>(guests_of_round);
}

double p50_of(std::vector<double> values) {
  return measure::summarise(std::move(values)).p50.value();
}

struct CostBlock {
  double with = 0;
  double without = 0;
};

CostBlock measure_block(std::uint64_t number) {
  Guests with;
  Guests without(untraced_options());
  std::vector<double> with_ms;
  std::vector<double> without_ms;
  for (std::size_t i = 0; i < warmup_of_block + rounds_of_block; ++i) {
    double one = 0;
    double other = 0;
    for (const std::size_t lane : measure::lane_order(seed + number, i, 2))
      (lane == 0 ? one : other) = untraced_round_ms(lane == 0 ? with : without);
    if (i < warmup_of_block) continue;
    with_ms.push_back(one);
    without_ms.push_back(other);
  }
  return {p50_of(std::move(with_ms)), p50_of(std::move(without_ms))};
}

Measurement measure_cost() {
  std::vector<double> with;
  std::vector<double> without;
  const std::size_t blocks = repeat(fewest_blocks, most_blocks, cost_limit, [&](std::size_t number) {
    const CostBlock block = measure_block(number);
    with.push_back(block.with);
    without.push_back(block.without);
  });
  const measure::Comparison ratio = measure::compare_paired(with, without);
  return {p50_of(with),
          p50_of(without),
          ratio.ratio,
          ratio.ratio_interval,
          fmt::format("{} pairs of fresh engines, {} rounds of {} guests each", blocks, rounds_of_block,
                      guests_of_round),
          {}};
}

}  // namespace

Benchmark guest_trace_cost() {
  return {{"guest.trace_cost",
           "node_exit_1 of a guest out of the pool, not traced, against an engine built without tracing",
           "ms",
           Judged::ratio,
           {{}, 1.01}},
          measure_cost};
}

}  // namespace tare::benchmarks
