#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "gateway_bench.hpp"

namespace tare::benchmarks {
namespace {

/// What is compared of one run.
struct GatewayFigures {
  double turns_per_s;
  double cpu_ms;  ///< of a turn
  double rss_mb;
  double list_p99_ms;
  std::uint64_t turns;
  std::uint64_t probes;
};

/// Of all its runs: medians, the largest memory, and p99 of all probes.
GatewayFigures figures_of(const GatewayBenchRun& run) {
  const report::Metric& list = run.metric("sessions_list", "total");
  if (!list.summary.p99) throw Broken("there are too few probes for a p99");
  return {run.metric("load", "turns_per_s").summary.p50.value(),
          run.metric("server", "cpu_per_turn").summary.p50.value(),
          run.metric("server", "rss_peak").summary.max.value() / (1024 * 1024),
          *list.summary.p99,
          run.document.gateways->front().summary.turn_count,
          list.summary.count};
}

/// Each figure of those in which it is worse.
GatewayFigures worse_of(const GatewayFigures& a, const GatewayFigures& b) {
  return {std::min(a.turns_per_s, b.turns_per_s), std::max(a.cpu_ms, b.cpu_ms), std::max(a.rss_mb, b.rss_mb),
          std::max(a.list_p99_ms, b.list_p99_ms), std::min(a.turns, b.turns),   std::min(a.probes, b.probes)};
}

/// 800 turns last about a second, the 32 of OpenClaw about twenty: so there are five runs, that one stall of
/// the machine is not all of a p99. With a cadence to match there are enough probes, and only while turns
/// run.
GatewayFigures builtin_figures() {
  return figures_of(run_gateway_bench(
      {"--stream-chunk-delay-ms", "0", "--turns-per-session", "100", "--cadence-ms", "2", "--runs", "5"}));
}

LimitedFigure times(std::string name, double factor, double limit, double ours, double theirs,
                    std::string_view unit) {
  return {std::move(name),
          factor,
          "×",
          {limit, {}},
          fmt::format("{} against {} {}", text::significant(ours), text::significant(theirs), unit)};
}

/// Takes two minutes, three quarters of them for the start and the turns of OpenClaw.
Measurement measure_against_openclaw() {
  const GatewayFigures before = builtin_figures();
  const GatewayBenchRun run = run_gateway_bench(
      {"--targets", "openclaw", "--stream-chunk-delay-ms", "0", "--turns-per-session", "4"});
  const GatewayFigures theirs = figures_of(run);
  const GatewayFigures ours = worse_of(before, builtin_figures());
  Measurement measurement = largest_share({
      times("turns/s", ours.turns_per_s / theirs.turns_per_s, 300, ours.turns_per_s, theirs.turns_per_s,
            "/s"),
      times("less CPU a turn", theirs.cpu_ms / ours.cpu_ms, 300, ours.cpu_ms, theirs.cpu_ms, "ms"),
      times("less peak RSS", theirs.rss_mb / ours.rss_mb, 20, ours.rss_mb, theirs.rss_mb, "MB"),
      times("sooner sessions.list p99", theirs.list_p99_ms / ours.list_p99_ms, 20, ours.list_p99_ms,
            theirs.list_p99_ms, "ms"),
  });
  measurement.note += fmt::format(
      "; one run of OpenClaw {} ({} turns, {} probes) between two times five of the built-in gateway ({} "
      "turns, {} "
      "probes each), whose worse figures count",
      run.document.targets.front().version.value_or("?"), theirs.turns, theirs.probes, ours.turns,
      ours.probes);
  return measurement;
}

}  // namespace

Benchmark gateway_against_openclaw() {
  return {
      {"gateway.against_openclaw",
       "the built-in gateway against OpenClaw, 8 sessions, delay 0: the largest share of what it may take",
       "%",
       Judged::time,
       {{}, 100}},
      measure_against_openclaw};
}

}  // namespace tare::benchmarks
