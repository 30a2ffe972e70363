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
constexpr std::size_t fewest_blocks = 24;
constexpr std::size_t most_blocks = 400;
constexpr auto cost_limit = std::chrono::seconds(240);
constexpr std::size_t pairs_of_block = 24;
constexpr std::size_t warmup_of_block = 4;

/// No pool: filling that of one engine would be beside the guests of the other, and a rest after each guest
/// leaves a spread of a fifth. And so a guest meets all the points there are, those of its making too.
guest::EngineOptions cold_options() {
  guest::EngineOptions options;
  options.pool = 0;
  return options;
}

/// The engine that was built without the points of the trace.
guest::EngineOptions untraced_options() {
  guest::EngineOptions options = cold_options();
  options.installation.lib = file::lib_folder() / "bench" / "guest_untraced";
  if (!std::filesystem::exists(options.installation.lib / "tare_guest.node"))
    throw Error(ErrorCode::unavailable, "the engine without tracing is not built", "",
                "`make bench` builds it");
  return options;
}

/// Time of one guest, in ms.
double untraced_guest_ms(Guests& guests) {
  const SystemClock clock;
  const Instant begin = clock.now();
  guest::Execution guest = guests.start(guest_driver::exit_script);
  expect_success(guest);
  return static_cast<double>((clock.now() - begin).count()) / 1e6;
}

double p50_of(std::vector<double> values) {
  return measure::summarise(std::move(values)).p50.value();
}

struct CostBlock {
  double with = 0;
  double without = 0;
  double ratio = 0;
};

/// The engines take turns guest by guest, so that what else the machine does is in both.
CostBlock measure_block(std::uint64_t number) {
  Guests with(cold_options());
  Guests without(untraced_options());
  with.settle();
  without.settle();
  std::vector<double> with_ms;
  std::vector<double> without_ms;
  for (std::size_t pair = 0; pair < warmup_of_block + pairs_of_block; ++pair) {
    double one = 0;
    double other = 0;
    for (const std::size_t lane : measure::lane_order(seed + number, pair, 2))
      (lane == 0 ? one : other) = untraced_guest_ms(lane == 0 ? with : without);
    if (pair < warmup_of_block) continue;
    with_ms.push_back(one);
    without_ms.push_back(other);
  }
  const measure::Comparison pairs = measure::compare_paired(with_ms, without_ms);
  if (!pairs.ratio) throw Broken("a block has no ratio");
  return {p50_of(std::move(with_ms)), p50_of(std::move(without_ms)), *pairs.ratio};
}

Measurement measure_cost() {
  std::vector<double> with;
  std::vector<double> without;
  std::vector<double> ratios;
  const std::size_t blocks = repeat(fewest_blocks, most_blocks, cost_limit, [&](std::size_t number) {
    const CostBlock block = measure_block(number);
    with.push_back(block.with);
    without.push_back(block.without);
    ratios.push_back(block.ratio);
  });
  // The sign test over the blocks: each counts as one, however many guests it had.
  const std::vector<double> ones(ratios.size(), 1.0);
  const measure::Comparison ratio = measure::compare_paired(ratios, ones);
  return {p50_of(with),
          p50_of(without),
          ratio.ratio,
          ratio.ratio_interval,
          fmt::format("{} pairs of fresh engines, {} pairs of guests each", blocks, pairs_of_block),
          {}};
}

}  // namespace

Benchmark guest_trace_cost() {
  return {{"guest.trace_cost",
           "node_exit_1 of a cold guest, not traced, against an engine built without tracing",
           "ms",
           Judged::ratio,
           {{}, 1.01}},
          measure_cost};
}

}  // namespace tare::benchmarks
