#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/describe.hpp>

#include "base/error.hpp"
#include "base/json.hpp"
#include "lab/measure/noise.hpp"
#include "lab/measure/quantile.hpp"

/// Tare's own speed and memory, each against a bar that it must reach. One file of this folder measures one.
namespace tare::benchmarks {

/// Of everything that a benchmark draws by lot.
inline constexpr std::uint64_t seed = 42;

/// The values that pass; both ends belong to them. At least one of the two is set.
struct Limit {
  std::optional<double> low;
  std::optional<double> high;
};

/// What stands against the limit.
enum class Judged {
  ratio,  ///< measured ÷ against, both out of one run and interleaved, so that load is in both
  time,   ///< measured; load makes it larger
  rate,   ///< measured; load makes it smaller
  size,   ///< measured; load is nothing to it: memory, or how often a verdict is right
};

/// What a benchmark is, before it has run.
struct Bar {
  std::string id;
  std::string quantity;  ///< in words, with what it is compared to
  std::string unit;      ///< of measured and against
  Judged judged = Judged::ratio;
  Limit limit;
};

/// What a benchmark found.
struct Measurement {
  std::optional<double> measured;
  std::optional<double> against;              ///< the peer's figure
  std::optional<double> ratio;                ///< measured ÷ against, round by round
  std::optional<measure::Interval> interval;  ///< 95 % of the judged figure: of the ratio where there is one
  std::string note;                           ///< how many samples, what else was seen
  std::optional<std::string> broken;          ///< something is wrong, however fast it was
  /// What the machine takes for a part that is not Tare's, in the unit of `measured`: a time's limit below it
  /// can't be judged there.
  std::optional<double> floor = {};
  std::optional<Limit> limit = {};  ///< in place of the bar's, where the run itself sets it
};

/// Thrown out of a measurement when what was measured is wrong: it fails, however fast it was.
class Broken : public Error {
 public:
  explicit Broken(const std::string& what, std::string why = {})
      : Error(ErrorCode::failed, what, std::move(why)) {}
};

BOOST_DEFINE_ENUM_CLASS(Verdict, pass, fail, inconclusive, unmeasured)

/// One element of out/bench.json. `limit` is a number where only the upper end is limited, else [low, high]
/// with null for an end that is not. `interval` is that of `ratio`, or of `measured` where there is no peer.
struct Result {
  std::string id;
  std::string quantity;
  std::string unit;
  std::optional<double> measured;
  std::optional<measure::Interval> interval;
  std::optional<double> against;
  json::Value limit;
  std::optional<double> ratio;
  Verdict verdict = Verdict::unmeasured;
  std::string reason;
  Judged judged = Judged::ratio;  ///< not part of the document: what the limit is of
};
BOOST_DESCRIBE_STRUCT(Result, (),
                      (id, quantity, unit, measured, interval, against, limit, ratio, verdict, reason))

/// Gates on the interval: pass when all of it is inside the limit, fail when all of it is outside, else
/// inconclusive; without an interval the figure itself decides, but never a ratio. A time that is too long
/// on a busy machine is inconclusive, and so is a rate that is too small, and a time that is too long where
/// its floor is. Nothing measured is unmeasured, with the note as the reason.
Result judge(const Bar& bar, const Measurement& measurement, const measure::Noise& noise);

struct Benchmark {
  Bar bar;
  /// Takes less than a minute, or says here and in docs/performance.md why it does not. Throws Error:
  /// unavailable for a peer that is not there. Throws Broken for a wrong answer.
  Measurement (*measure)();
};

/// Runs it between two looks at the machine. Never throws: what could not be measured says why.
Result run(const Benchmark& benchmark);

/// In the order of the report.
const std::vector<Benchmark>& all_benchmarks();

// One file each, or each pair.
Benchmark spawn_native_overhead();
Benchmark spawn_hyperfine_agreement();
Benchmark spawn_large_parent();
Benchmark spawn_agentos_driver_overhead();
Benchmark verdict_aa();
Benchmark verdict_power();
Benchmark verdict_compare_1m();
Benchmark lab_rss();
Benchmark lab_summary_10m();
Benchmark cli_help();
Benchmark agents_spawn_memory();
Benchmark agents_spawn_durable();
Benchmark agents_spawn_durable_floor();
Benchmark agents_admission();
Benchmark agents_sweep();
Benchmark agents_sweep_scale();
Benchmark agents_dedupe();
Benchmark agents_dedupe_scale();
Benchmark agents_rss();
Benchmark agents_durable_rate();
Benchmark agents_restart();
Benchmark guest_spawn_pooled();
Benchmark guest_spawn_cold();
Benchmark guest_fanout_32();
Benchmark guest_nested_8();
Benchmark guest_cpu();
Benchmark guest_engine_start();
Benchmark guest_memory();
Benchmark guest_stdio_rate();
Benchmark guest_stdio_roundtrip();
Benchmark guest_sync_skip();
Benchmark guest_fs_small();
Benchmark guest_churn();
Benchmark guest_trace_cost();
Benchmark import_isolate_startup();
Benchmark import_prewarmed();
Benchmark import_cold_local();
Benchmark import_warm_local();
Benchmark import_builtin();
Benchmark import_typescript();
Benchmark import_typescript_cached();
Benchmark import_transport();
Benchmark gateway_start();
Benchmark gateway_rss();
Benchmark gateway_turns();
Benchmark gateway_cpu();
Benchmark gateway_sessions_list();
Benchmark gateway_history();
Benchmark gateway_handshake();
Benchmark gateway_added_latency();
Benchmark gateway_idle();
Benchmark load_timing();
Benchmark load_http();
Benchmark load_known_answer();
Benchmark load_websocket();
Benchmark load_websocket_cpu();
Benchmark load_lab_cost();
Benchmark load_sessions_10k();
Benchmark gateway_against_openclaw();

}  // namespace tare::benchmarks
