#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "gateway_bench.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::uint64_t many_sessions = 10'000;

/// How often this was looked at and held, of the turns.
std::uint64_t held(const report::Document& document, std::string_view invariant) {
  const report::Row* const turns = report::find_row(document, "turns", "embedded");
  if (turns == nullptr) return 0;
  const auto found = std::ranges::find(turns->invariants, invariant, &report::Invariant::id);
  return found == turns->invariants.end() ? 0 : found->checked - found->broken;
}

/// Without warm turns, so that each session has one reply, and each reply is looked at once.
Measurement measure_sessions_10k() {
  const GatewayBenchRun run = run_gateway_bench({"--concurrency", std::to_string(many_sessions), "--cold"});
  const report::GatewayRun& record = run.document.gateways->front().runs.front();
  const std::uint64_t exact =
      std::min({record.turn_count, held(run.document, "reply_exact"), held(run.document, "stream_exact"),
                held(run.document, "final_exact")});
  Measurement measurement;
  measurement.measured = static_cast<double>(exact);
  measurement.note = fmt::format(
      "all turns {} s; {} sequence gaps; lab {} % of a core, peak {} MB; gateway {} ms CPU a turn, peak {} "
      "MB; "
      "probes of sessions.list p50 {} ms",
      text::significant(record.turns_duration_ms / 1e3), record.sequence_gaps,
      text::significant(run.lab_core_percent.front()), text::significant(run.lab_peak_mb),
      text::significant(run.metric("server", "cpu_per_turn").summary.p50.value()),
      text::significant(record.memory.peak_rss_mb.value_or(0)),
      text::significant(run.metric("sessions_list", "total").summary.p50.value()));
  if (record.sequence_gaps > 0) measurement.broken = "events are missing";
  return measurement;
}

}  // namespace

Benchmark load_sessions_10k() {
  return {{"load.sessions_10k",
           "exact replies of 10,000 sessions that stream at once, over 8 connections to the built-in gateway",
           "replies",
           Judged::size,
           {many_sessions, {}}},
          measure_sessions_10k};
}

}  // namespace tare::benchmarks
