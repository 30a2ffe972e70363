#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/describe.hpp>

#include "base/json.hpp"
#include "lab/measure/histogram.hpp"
#include "lab/measure/host.hpp"
#include "lab/measure/summary.hpp"
#include "lab/report/gateway_record.hpp"

/// The run document, `"schema": "tare.run.v1"`: one shape for every bench. docs/run-document.md explains
/// it, docs/run.schema.json is its JSON Schema. Members are the document's keys in snake_case; an absent
/// optional is written as null.
namespace tare::report {

inline constexpr std::string_view schema_name = "tare.run.v1";

struct Tool {
  std::string version;
  std::string commit;
  std::string build;
};
BOOST_DESCRIBE_STRUCT(Tool, (), (version, commit, build))

/// A target's part in a run.
BOOST_DEFINE_ENUM_CLASS(Lane, floor, reference, subject)

struct Target {
  std::string id;
  Lane kind = Lane::subject;
  std::optional<std::string> version;
  std::optional<std::string> engine;
  std::optional<std::string> path;          ///< the program that is measured
  std::optional<std::string> sha256;        ///< of `path`
  std::optional<std::uint64_t> size_bytes;  ///< of `path`
  std::optional<std::string> modified_at;   ///< of `path`, RFC 3339
  std::vector<std::string> driver;          ///< the command that carries this lane
  /// Whether its spawn returns before the work, so that phases are not comparable; null when it didn't say.
  std::optional<bool> asynchronous_spawn;
};
BOOST_DESCRIBE_STRUCT(Target, (),
                      (id, kind, version, engine, path, sha256, size_bytes, modified_at, driver,
                       asynchronous_spawn))

BOOST_DEFINE_ENUM_CLASS(Better, lower, higher)

/// How one measured operation ended. Only `ok` samples are in a metric's summary. What had not come back when
/// its load ended is `censored`: its sample is the age that it had reached.
BOOST_DEFINE_ENUM_CLASS(Outcome, ok, failed, timeout, refused, censored)

/// One timed quantity of a row. The six arrays are parallel; warm-up samples stand apart.
///
/// Where more samples were taken than are kept, the arrays hold the first ones, and `histogram` counts all
/// that ended well: the summary follows from it.
struct Metric {
  std::string unit;
  Better better = Better::lower;
  std::vector<std::optional<double>> samples;  ///< in `unit`; null when the operation gave no time
  std::vector<std::uint32_t> round;
  std::vector<std::uint32_t> process;  ///< which fresh driver process of this lane, from 0
  std::vector<double> at_ms;           ///< start of the sample, since the start of the run
  std::vector<Outcome> outcome;
  std::vector<std::optional<std::string>> error;
  std::vector<std::optional<double>> warmup;
  std::optional<measure::HistogramData> histogram;
  measure::Summary summary;
};
BOOST_DESCRIBE_STRUCT(Metric, (),
                      (unit, better, samples, round, process, at_ms, outcome, error, warmup, histogram,
                       summary))

/// What one operation of the row costs beside time. The CPU figures are means per operation; memory,
/// threads and descriptors are peaks of the lane's process tree, seen in a separate, untimed arm.
struct Resources {
  std::optional<double> cpu_user_ms;
  std::optional<double> cpu_system_ms;
  std::optional<std::uint64_t> max_rss_bytes;        ///< largest single process that the operation started
  std::optional<std::uint64_t> max_rss_floor_bytes;  ///< a figure at or below this one means "no more than"
  std::optional<std::uint64_t> pss_bytes;
  std::optional<std::uint64_t> threads;
  std::optional<std::uint64_t> fds;
  std::vector<std::string> methods;  ///< how each figure was read, and why one is null
};
BOOST_DESCRIBE_STRUCT(Resources, (),
                      (cpu_user_ms, cpu_system_ms, max_rss_bytes, max_rss_floor_bytes, pss_bytes, threads,
                       fds, methods))

/// A correctness condition of a row over all its samples; `expected` and `actual` show the first break.
struct Invariant {
  std::string id;
  bool ok = true;
  std::uint64_t checked = 0;
  std::uint64_t broken = 0;
  std::string expected;
  std::optional<std::string> actual;
};
BOOST_DESCRIBE_STRUCT(Invariant, (), (id, ok, checked, broken, expected, actual))

struct Artifact {
  std::string kind;
  std::string path;
};
BOOST_DESCRIBE_STRUCT(Artifact, (), (kind, path))

/// One stage of the runtime's own work, as the runtime counts it: a difference over the samples of the row,
/// but for the maximum, which is as reported.
struct Stage {
  std::uint64_t calls = 0;
  double total_us = 0;
  double avg_us = 0;
  double max_us = 0;
};
BOOST_DESCRIBE_STRUCT(Stage, (), (calls, total_us, avg_us, max_us))

/// One sub-phase of the lives of a row's processes, in ms.
struct SubPhase {
  std::uint64_t count = 0;
  double p50 = 0;
  std::optional<double> p95;  ///< null below 20 processes
  double max = 0;
};
BOOST_DESCRIBE_STRUCT(SubPhase, (), (count, p50, p95, max))

/// How the processes of a row came and went, warm-ups left out.
struct Lifecycle {
  std::uint64_t processes = 0;
  std::map<std::string, std::uint64_t> resolution_routes;  ///< how the ends became known
  std::map<std::string, std::uint64_t> first_waiters;
  std::map<std::string, std::uint64_t> waiter_sources;
  std::map<std::string, std::optional<SubPhase>> sub_phases;  ///< null: Trace::absent says why
};
BOOST_DESCRIBE_STRUCT(Lifecycle, (),
                      (processes, resolution_routes, first_waiters, waiter_sources, sub_phases))

/// What the separate, untimed arm of `--trace` saw of a row.
struct Trace {
  std::uint64_t samples = 0;
  std::uint64_t warmup = 0;
  std::map<std::string, Stage> stages;  ///< those that had calls
  std::map<std::string, std::string>
      absent;                          ///< stages and sub-phases that the runtime does not record, and why
  std::optional<Lifecycle> lifecycle;  ///< of node_exit_1 and fanouts, where the runtime's client keeps one
};
BOOST_DESCRIBE_STRUCT(Trace, (), (samples, warmup, stages, absent, lifecycle))

BOOST_DEFINE_ENUM_CLASS(RowStatus, ok, failed, unavailable)

/// One workload on one target.
struct Row {
  std::string bench;
  std::string row;
  std::string target;
  std::optional<std::uint64_t> size;  ///< the N of a row that has one, as 8 of fanout_8
  RowStatus status = RowStatus::ok;
  std::optional<std::string> reason;  ///< why it is not ok
  std::map<std::string, Metric> metrics;
  std::map<std::string, std::uint64_t> outcomes;  ///< samples by outcome
  std::map<std::string, std::int64_t> counters;   ///< summed over the samples
  Resources resources;
  std::vector<Invariant> invariants;
  std::vector<Artifact> artifacts;
  std::optional<Trace> trace;  ///< null unless the row was traced
};
BOOST_DESCRIBE_STRUCT(Row, (),
                      (bench, row, target, size, status, reason, metrics, outcomes, counters, resources,
                       invariants, artifacts, trace))

BOOST_DEFINE_ENUM_CLASS(ComparisonKind, emulation, total, floor, baseline)
BOOST_DEFINE_ENUM_CLASS(Verdict, pass, fail, inconclusive, unmeasured)

using Interval = std::array<double, 2>;

/// One lane against another at one quantile.
struct Comparison {
  ComparisonKind kind = ComparisonKind::emulation;
  std::string row;
  std::string metric;
  std::string quantile;  ///< "p50" or "p95"
  std::string subject;
  std::string reference;
  std::optional<double> ratio;  ///< subject ÷ reference
  std::optional<Interval> interval;
  std::optional<double> difference;  ///< subject − reference, in `unit`
  std::optional<Interval> difference_interval;
  std::string unit;
  std::uint64_t pairs = 0;
  std::string method;
  std::optional<Verdict> verdict;     ///< null when nothing judges it
  std::optional<std::string> reason;  ///< why a figure is null
};
BOOST_DESCRIBE_STRUCT(Comparison, (),
                      (kind, row, metric, quantile, subject, reference, ratio, interval, difference,
                       difference_interval, unit, pairs, method, verdict, reason))

struct Budget {
  std::string id;
  std::string limit;
  std::optional<double> measured;
  Verdict verdict = Verdict::unmeasured;
  std::optional<std::string> reason;
};
BOOST_DESCRIBE_STRUCT(Budget, (), (id, limit, measured, verdict, reason))

BOOST_DEFINE_ENUM_CLASS(FindingLevel, note, warn)

/// Something a reader of the figures should know.
struct Finding {
  FindingLevel level = FindingLevel::note;
  std::optional<std::string> target;
  std::optional<std::string> row;
  std::string text;
};
BOOST_DESCRIBE_STRUCT(Finding, (), (level, target, row, text))

/// What an A/A run showed: the medians of two equal lanes, each pair of values from fresh processes that
/// shared their rounds. From it follows the smallest effect that a comparison can see (measure/detectable).
struct Calibration {
  std::string target;
  std::optional<std::string> version;  ///< of the target
  std::string row;
  std::string metric;
  std::string quantile;  ///< "p50" or "p95"
  std::string unit;
  std::uint64_t iterations = 0;  ///< samples of each process
  std::string at;                ///< RFC 3339
  std::vector<double> first;     ///< in `unit`
  std::vector<double> second;
};
BOOST_DESCRIBE_STRUCT(Calibration, (),
                      (target, version, row, metric, quantile, unit, iterations, at, first, second))

/// Of a bench whose workers are processes of their own: what the lab held and what they did.
struct Memory {
  std::optional<std::uint64_t> rss_start_bytes;               ///< VmRSS of the lab when the run began
  std::optional<std::uint64_t> rss_end_bytes;                 ///< and when it ended
  std::optional<std::uint64_t> worker_process_max_rss_bytes;  ///< the largest peak that a worker reported
};
BOOST_DESCRIBE_STRUCT(Memory, (), (rss_start_bytes, rss_end_bytes, worker_process_max_rss_bytes))

struct Invariants {
  bool ok = true;
  std::vector<std::string> failures;  ///< "fanout_8 on node: all_exits: expected 8, got 7 (1 of 200 samples)"
};
BOOST_DESCRIBE_STRUCT(Invariants, (), (ok, failures))

struct Document {
  std::string schema = std::string(schema_name);
  bool complete = false;
  Tool tool;
  std::vector<std::string> command;
  std::string started_at;                  ///< RFC 3339, UTC
  std::optional<std::string> finished_at;  ///< null while the run goes on and when it was cut short
  std::uint64_t seed = 0;
  measure::HostFacts host;
  std::vector<Target> targets;
  json::Value config;  ///< the bench's options, defaults included
  std::vector<Row> rows;
  std::vector<Comparison> comparisons;
  /// Of this machine, for the targets and rows of this run; null when there was none.
  std::optional<std::vector<Calibration>> calibrations;
  std::optional<Memory> memory;  ///< null unless the bench has workers
  std::optional<std::vector<GatewayRecord>>
      gateways;  ///< one each target; null unless the bench is `gateway`
  std::vector<Budget> budgets;
  std::vector<Finding> findings;
  std::vector<std::string> guidance;
  Invariants invariants;
};
BOOST_DESCRIBE_STRUCT(Document, (),
                      (schema, complete, tool, command, started_at, finished_at, seed, host, targets, config,
                       rows, comparisons, calibrations, memory, gateways, budgets, findings, guidance,
                       invariants))

/// The row of a target, or nullptr.
const Row* find_row(const Document& document, std::string_view row, std::string_view target);

std::string to_json(const Document& document);

/// Reads a document and checks what a schema can't: that this version knows its schema, and that a run could
/// have written it (see check_consistent). `source` names it in errors. Throws Error(input).
Document from_json(std::string_view text, std::string_view source);

Document load(const std::filesystem::path& path);

/// Writes the document atomically. Throws Error(failed); the old file, if any, is then untouched.
void save(const Document& document, const std::filesystem::path& path);

}  // namespace tare::report
