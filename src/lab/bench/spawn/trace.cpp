#include "lab/bench/spawn/trace.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "base/file.hpp"
#include "lab/measure/random.hpp"
#include "lab/measure/summary.hpp"

namespace tare::spawn {
namespace {

using driver::Work;

constexpr std::uint64_t most_samples = 20;
constexpr std::uint64_t most_warmups = 2;
constexpr std::uint64_t trace_stream = std::uint64_t{3} << 62;

constexpr std::array<std::string_view, 5> parent_stages = {
    "kernel_spawn_process", "process_register_and_lifecycle", "process_exit_cleanup",
    "process_exit_cleanup_wait_and_reap", "execute_response_to_exit_event_queued"};
constexpr std::array<std::string_view, 4> child_stages = {
    "child_process_spawn_total", "child_process_spawn_and_start_execution", "child_process_register",
    "child_process_exit_cleanup"};
constexpr std::string_view clean_skip = "process_exit_cleanup_sync_host_writes_clean_skip";

bool may_write_to_host(const driver::Workload& workload) {
  return workload.work == Work::root_folder || workload.work == Work::host_folder ||
         workload.work == Work::host_write;
}

std::uint64_t calls(const driver::Stages& stages, std::string_view name) {
  const auto found = stages.stages.find(std::string(name));
  return found == stages.stages.end() ? 0 : found->second.calls;
}

/// A runtime that was started anew counts from 0 again.
std::uint64_t calls_between(const driver::Stages& before, const driver::Stages& after,
                            std::string_view name) {
  const std::uint64_t was = calls(before, name);
  const std::uint64_t now = calls(after, name);
  return now > was ? now - was : 0;
}

report::Invariant at_least(std::string_view stage, std::uint64_t expected, std::uint64_t actual) {
  report::Invariant invariant;
  invariant.id = fmt::format("trace_{}", stage);
  invariant.checked = 1;
  invariant.ok = actual >= expected;
  invariant.broken = invariant.ok ? 0 : 1;
  invariant.expected = fmt::format("at least {} calls", expected);
  if (!invariant.ok) invariant.actual = fmt::format("{} calls", actual);
  return invariant;
}

/// Takes samples and keeps no time of them, but the lives of their processes. Throws DriverFailure of a
/// sample that is not ok.
std::vector<driver::Lifecycle> operate(driver::Driver& driver, const driver::Workload& workload,
                                       const Options& options, std::uint64_t first, std::uint64_t count,
                                       const std::filesystem::path& folder) {
  std::vector<driver::Lifecycle> lives;
  for (std::uint64_t i = first; i < first + count; ++i) {
    driver::SampleRequest request;
    request.row = workload.row;
    request.params = driver::make_params(workload, measure::mix(options.seed, trace_stream + i), folder);
    request.timeout = options.timeout();
    request.metrics = workload.metrics;
    driver::Sample sample = driver.sample(request).front();
    driver::judge(workload, request.params, sample);  // takes away what a row leaves on the host
    if (sample.outcome == driver::Outcome::ok) {
      std::ranges::move(sample.lifecycle, std::back_inserter(lives));
      continue;
    }
    throw driver::DriverFailure(driver::FailureKind::failed, driver.label(), "failed in the traced arm",
                                fmt::format("{}: {}", workload.row, sample.error.value_or("")),
                                driver.stderr_tail());
  }
  return lives;
}

report::SubPhase sub_phase(std::vector<double> ms) {
  const measure::Summary summary = measure::summarise(std::move(ms));
  return {summary.count, summary.p50.value(), summary.p95, summary.max.value()};
}

/// What of a wait its parts don't account for, in ns.
std::optional<double> unattributed(const driver::Lifecycle& life) {
  const auto find = [&](const char* name) {
    const auto found = life.ns.find(name);
    return found == life.ns.end() ? std::nullopt : std::optional(found->second);
  };
  const auto total = find("ts_wait_total");
  if (!total) return std::nullopt;
  double rest = *total;
  for (const char* part : {"ts_wait_blocked_on_start", "ts_snapshot_poll_sleep", "ts_snapshot_refresh"})
    rest -= find(part).value_or(0);
  return rest;
}

}  // namespace

bool is_traced(const driver::Workload& workload) {
  return workload.row == "node_exit_1" || workload.row == "fanout_8" || workload.work == Work::nested ||
         may_write_to_host(workload);
}

Rounds trace_rounds(const Options& options) {
  return {std::min(options.iterations, most_samples), std::min(options.warmup, most_warmups)};
}

std::map<std::string, report::Stage> stages_between(const driver::Stages& before,
                                                    const driver::Stages& after) {
  std::map<std::string, report::Stage> result;
  for (const auto& [name, now] : after.stages) {
    const auto found = before.stages.find(name);
    const driver::StageCount was = found == before.stages.end() ? driver::StageCount{} : found->second;
    if (now.calls <= was.calls) continue;
    report::Stage stage;
    stage.calls = now.calls - was.calls;
    stage.total_us = std::max(0.0, now.total_us - was.total_us);
    stage.avg_us = stage.total_us / static_cast<double>(stage.calls);
    stage.max_us = now.max_us;
    result[name] = stage;
  }
  return result;
}

std::vector<report::Invariant> coverage(const driver::Workload& workload, const driver::Stages& before,
                                        const driver::Stages& after, std::uint64_t operations) {
  const auto size = static_cast<std::uint64_t>(workload.size);
  const std::uint64_t parents = workload.work == Work::fanout ? size : 1;
  const std::uint64_t children = workload.work == Work::nested ? size : 0;
  std::vector<report::Invariant> invariants;
  const auto expect = [&](const auto& stages, std::uint64_t each) {
    for (const std::string_view stage : stages) {
      if (each == 0) continue;
      invariants.push_back(at_least(stage, operations * each, calls_between(before, after, stage)));
    }
  };
  expect(parent_stages, parents);
  expect(child_stages, children);
  if (!may_write_to_host(workload)) return invariants;
  const std::uint64_t skips = calls_between(before, after, clean_skip);
  report::Invariant skipped = at_least(clean_skip, 1, skips);
  if (workload.work == Work::host_write) {
    skipped.expected = "0 calls";
    skipped.ok = skips == 0;
    skipped.broken = skipped.ok ? 0 : 1;
    skipped.actual = skipped.ok ? std::nullopt : std::optional(fmt::format("{} calls", skips));
  }
  invariants.push_back(std::move(skipped));
  return invariants;
}

std::optional<report::Lifecycle> lifecycle_of(const std::vector<driver::Lifecycle>& lives,
                                              const std::map<std::string, std::string>& absent) {
  if (lives.empty()) return std::nullopt;
  constexpr double ns_per_ms = 1e6;
  report::Lifecycle all;
  all.processes = lives.size();
  std::map<std::string, std::vector<double>> ms;
  for (const driver::Lifecycle& life : lives) {
    ++all.resolution_routes[life.route];
    ++all.first_waiters[life.first_waiter];
    for (const auto& [name, calls] : life.waiters) all.waiter_sources[name] += calls;
    for (const auto& [name, ns] : life.ns) ms[name].push_back(ns / ns_per_ms);
    if (const auto gap = unattributed(life)) ms["ts_wait_unattributed_gap"].push_back(*gap / ns_per_ms);
  }
  for (auto& [name, values] : ms) all.sub_phases[name] = sub_phase(std::move(values));
  for (const auto& [name, why] : absent) {
    if (name.starts_with("ts_")) all.sub_phases.try_emplace(name, std::nullopt);
  }
  return all;
}

void trace(const bench::Lane& lane, const driver::Workload& workload, const Options& options,
           const driver::DriverOptions& driver_options, report::Row& row) {
  driver::DriverCommand command = lane.command();
  command.env[trace_variable] = "1";
  driver::Driver driver(std::move(command), driver_options);
  if (!driver.hello().stages.value_or(false)) {
    driver.bye();
    return;
  }
  const file::TemporaryFolder folder("tare-host");
  const Rounds rounds = trace_rounds(options);
  const driver::Stages at_start = driver.stages(options.timeout());
  operate(driver, workload, options, 0, rounds.warmup, folder.path());
  const driver::Stages warm = driver.stages(options.timeout());
  const std::vector<driver::Lifecycle> lives =
      operate(driver, workload, options, rounds.warmup, rounds.iterations, folder.path());
  const driver::Stages at_end = driver.stages(options.timeout());
  driver.bye();
  if (driver_options.roster && driver_options.roster->take_left_by(lane.spec.id) > 0) {
    throw driver::DriverFailure(driver::FailureKind::failed, lane.spec.id, "left processes running",
                                "in the traced arm", {});
  }

  const std::set<std::string> excused = bench::excused_checks(lane.defects, workload.row);
  report::Trace trace;
  trace.samples = rounds.iterations;
  trace.warmup = rounds.warmup;
  trace.stages = stages_between(warm, at_end);
  trace.absent = at_end.absent.value_or(std::map<std::string, std::string>());
  if (workload.row == "node_exit_1" || workload.work == Work::fanout)
    trace.lifecycle = lifecycle_of(lives, trace.absent);
  row.trace = std::move(trace);
  for (report::Invariant& invariant :
       coverage(workload, at_start, at_end, rounds.warmup + rounds.iterations)) {
    if (!invariant.ok && excused.contains(invariant.id)) {
      row.counters[bench::defect_counter(invariant.id)] += 1;
    } else {
      row.invariants.push_back(std::move(invariant));
    }
  }
}

}  // namespace tare::spawn
