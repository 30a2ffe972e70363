#include <fmt/format.h>

#include "benchmark.hpp"
#include "lab/measure/random.hpp"
#include "lab/verdict/samples.hpp"
#include "simulation.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::size_t runs = 400;
constexpr std::uint32_t rounds = 30;
constexpr double change = 1.05;

/// One run of two lanes whose truth is +5 %: samples and the ratio of a round scatter by 5 % (made_lanes says
/// how), neighbours of the machine's own part are correlated by 0.3. Found is what the comparison calls
/// worse.
bool finds_the_change(std::size_t run) {
  measure::Random random(measure::mix(seed, run));
  verdict::MadeLanes lanes = verdict::made_lanes({}, change, rounds, random);
  const report::Document document =
      verdict::made_document({verdict::made_row("node_exit_1", "before", std::move(lanes.base)),
                              verdict::made_row("node_exit_1", "after", std::move(lanes.now))});
  for (const verdict::Entry& entry : compare_lanes(document, "before", "after").entries) {
    if (entry.change == verdict::Change::worse) return true;
  }
  return false;
}

Measurement measure_power() {
  const std::size_t found = count_runs(runs, finds_the_change);
  const auto [low, high] = share_interval(found, runs);
  return {
      100.0 * static_cast<double>(found) / runs,
      {},
      {},
      measure::Interval{100 * low, 100 * high},
      fmt::format("{} of {} found; log-normal, σ 5 % of a sample and of a round's ratio: half of a sample's "
                  "variance is the machine's, in both lanes and with lag-1 .3",
                  found, runs),
      {}};
}

}  // namespace

Benchmark verdict_power() {
  return {{"verdict.power",
           "how often a true +5 % is found on 30 paired rounds, at tolerance 0",
           "%",
           Judged::size,
           {90.0, {}}},
          measure_power};
}

}  // namespace tare::benchmarks
