#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "benchmark.hpp"
#include "lab/measure/random.hpp"
#include "lab/measure/summary.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::size_t count = 10'000'000;
constexpr std::size_t repeats = 7;

/// Like spawn times: a floor and a long tail.
std::vector<double> make_samples() {
  measure::Random random(42);
  std::vector<double> samples(count);
  for (double& sample : samples) sample = 0.6 - 0.2 * std::log(1 - random.uniform());
  return samples;
}

void check(const measure::Summary& summary) {
  const bool whole = summary.count == count && summary.p50_interval && summary.p90_interval &&
                     summary.p95_interval && summary.p99_interval && summary.max;
  // The median of that distribution is 0.6 + 0.2·ln 2.
  if (!whole || std::abs(*summary.p50 - 0.73863) > 0.001)
    throw Error(ErrorCode::failed, "the summary of ten million samples is not right");
}

Measurement measure_summary() {
  const std::vector<double> samples = make_samples();
  const SystemClock clock;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < repeats; ++i) {
    std::vector<double> copy = samples;
    const Instant start = clock.now();
    const measure::Summary summary = measure::summarise(std::move(copy));
    seconds.push_back(std::chrono::duration<double>(clock.now() - start).count());
    check(summary);
  }
  const measure::Summary summary = measure::summarise(seconds);
  return {summary.p50, {}, {}, summary.p50_interval, fmt::format("p50 of {} times", repeats), {}};
}

}  // namespace

Benchmark lab_summary_10m() {
  return {{"lab.summary_10m",
           "ten million samples summarised, all quantiles and intervals",
           "s",
           Judged::time,
           {{}, 2.0}},
          measure_summary};
}

}  // namespace tare::benchmarks
