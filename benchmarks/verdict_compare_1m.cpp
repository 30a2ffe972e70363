#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "benchmark.hpp"
#include "lab/measure/random.hpp"
#include "lab/measure/summary.hpp"
#include "lab/verdict/compare.hpp"
#include "lab/verdict/samples.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::uint32_t compared_processes = 10;
constexpr std::uint32_t compared_samples = 100'000;
constexpr std::size_t repeats = 7;

double seconds_since(Instant start) {
  return std::chrono::duration<double>(SystemClock().now() - start).count();
}

report::Document made_run(double median, std::uint64_t stream) {
  measure::Random random(measure::mix(seed, stream));
  return verdict::made_document({verdict::made_row(
      "node_exit_1", "node", verdict::made_metric({median}, compared_processes, compared_samples, random))});
}

/// A change of +10 % is past the tolerance, so that no test is skipped, and all three quantiles must be found
/// worse.
void check(const verdict::Comparison& comparison) {
  const bool right = comparison.entries.size() == 3 &&
                     std::ranges::all_of(comparison.entries, [](const verdict::Entry& entry) {
                       return entry.change == verdict::Change::worse &&
                              entry.base_n == compared_processes * compared_samples;
                     });
  if (!right) throw Error(ErrorCode::failed, "the comparison of two million samples is not right");
}

Measurement measure_compare() {
  const file::TemporaryFolder folder;
  report::save(made_run(100, 0), folder.path() / "base.json");
  report::save(made_run(110, 1), folder.path() / "new.json");
  const SystemClock clock;
  const Instant start = clock.now();
  const report::Document base = report::load(folder.path() / "base.json");
  const report::Document now = report::load(folder.path() / "new.json");
  const double loading = seconds_since(start);
  std::vector<double> seconds;
  for (std::size_t i = 0; i < repeats; ++i) {
    const Instant begin = clock.now();
    const verdict::Comparison comparison = verdict::compare({"base", {}, &base}, {"new", {}, &now}, {});
    seconds.push_back(seconds_since(begin));
    check(comparison);
  }
  const measure::Summary summary = measure::summarise(seconds);
  return {summary.p50,
          {},
          {},
          summary.p50_interval,
          fmt::format("p50 of {} times; loading both from disk took {} s and is not in it", repeats,
                      text::significant(loading)),
          {}};
}

}  // namespace

Benchmark verdict_compare_1m() {
  return {{"verdict.compare_1m",
           "two runs of a million samples in ten processes compared, p50, p95 and p99",
           "s",
           Judged::time,
           {{}, 1.0}},
          measure_compare};
}

}  // namespace tare::benchmarks
