#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "benchmark.hpp"
#include "load_lanes.hpp"

namespace tare::benchmarks {
namespace {

constexpr auto known_delay_ms = 20.0;
constexpr auto known_p95_ms = 250.0;
constexpr auto known_every = std::chrono::milliseconds(20);
/// Six times 5 s: each has a stall of 500 ms.
constexpr std::uint64_t known_starts = 6 * 5'000 / 20;

double quantile_ms(const measure::Histogram& histogram, double q) {
  return to_ms(histogram.quantile(q).value());
}

/// Of the answers that are known, how far each may be off.
struct KnownAnswer {
  double ms;
  double right_ms;
  double may_be_off;  ///< of what is right
  double used() const { return std::abs(ms / right_ms - 1) / may_be_off; }
};

Measurement measure_known_answer() {
  const HelperServer server("probed_server");
  boost::asio::io_context io{1};
  const load::Schedule open{.every = known_every, .rounds = known_starts};
  Probes delayed(io, server.url(), "/delay", open);
  Probes stalled(io, server.url(), "/stall", open);
  // It ends by itself: it starts less often than it is due.
  Probes closed(io, server.url(), "/stall",
                {.pace = load::Pace::closed_from_start,
                 .every = known_every,
                 .rounds = known_starts - known_starts / 10});
  for (Probes* probes : {&delayed, &stalled, &closed}) probes->begin();
  run_loop_until(io, [&] { return delayed.done() && stalled.done() && closed.done(); });

  const KnownAnswer p50{quantile_ms(delayed.series().latency(), 0.5), known_delay_ms, 0.02};
  const KnownAnswer p95{quantile_ms(stalled.series().latency(), 0.95), known_p95_ms, 0.1};
  const double closed_p95_ms = quantile_ms(closed.series().latency(), 0.95);
  constexpr double closed_limit_ms = 50;
  const double worst = std::max({p50.used(), p95.used(), closed_p95_ms / closed_limit_ms});
  const std::uint64_t unsent = delayed.series().unsent_starts() + stalled.series().unsent_starts();
  return {worst * 100,
          {},
          {},
          {},
          fmt::format("after 20 ms: p50 {:.2f} ms; stalls, open loop: p95 {:.0f} ms of 250; closed loop: p95 "
                      "{:.2f} ms (< 50); {} probes each, {} unsent, {} late by over 1 ms",
                      p50.ms, p95.ms, closed_p95_ms, known_starts, unsent,
                      delayed.series().late_starts() + stalled.series().late_starts()),
          unsent > 0 ? std::optional<std::string>("a probe was left out") : std::nullopt};
}

}  // namespace

Benchmark load_known_answer() {
  return {
      {"load.known_answer",
       "latencies that are known, seen in open and closed loop: the largest share of what they may be off",
       "%",
       Judged::time,
       {{}, 100}},
      measure_known_answer};
}

}  // namespace tare::benchmarks
