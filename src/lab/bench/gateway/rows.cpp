#include "lab/bench/gateway/rows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "lab/bench/common/recorder.hpp"
#include "lab/report/metric.hpp"

namespace tare::gateway_bench {
namespace {

constexpr double bytes_per_mb = 1024.0 * 1024.0;
constexpr double ns_per_ms = 1e6;

std::string name_of(report::Outcome outcome) {
  return boost::describe::enum_to_string(outcome, "?");
}

report::Outcome outcome_of(load::Outcome outcome) {
  switch (outcome) {
    case load::Outcome::ok:
      return report::Outcome::ok;
    case load::Outcome::timeout:
      return report::Outcome::timeout;
    case load::Outcome::censored:
      return report::Outcome::censored;
    case load::Outcome::failed:
      break;
  }
  return report::Outcome::failed;
}

std::optional<double> between(const std::optional<Instant>& from, const std::optional<Instant>& to) {
  return from && to ? std::optional(to_ms(*to - *from)) : std::nullopt;
}

std::optional<double> scaled(const std::optional<double>& value, double factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

std::optional<double> growth(const std::optional<double>& before, const std::optional<double>& after) {
  return before && after ? std::optional((*after - *before) * bytes_per_mb) : std::nullopt;
}

}  // namespace

report::Row& Rows::row_of(std::string_view row, const std::string& target) {
  const auto found = std::ranges::find_if(
      document_.rows, [&](const report::Row& known) { return known.row == row && known.target == target; });
  if (found != document_.rows.end()) return *found;
  report::Row& made = document_.rows.emplace_back();
  made.bench = options_.bench;
  made.row = row;
  made.target = target;
  return made;
}

void Rows::put(const Attempt& attempt, const Figure& figure, Sample sample) {
  report::Metric& metric = row_of(figure.row, attempt.target).metrics[std::string(figure.metric)];
  metric.unit = figure.unit;
  metric.better = figure.better;
  metric.round.push_back(static_cast<std::uint32_t>(metric.samples.size()));
  metric.samples.push_back(sample.value);
  metric.process.push_back(static_cast<std::uint32_t>(attempt.record.run));
  metric.at_ms.push_back(to_ms(sample.at - start_));
  metric.outcome.push_back(sample.outcome);
  metric.error.push_back(std::move(sample.error));
}

Rows::Tally& Rows::tally_of(const Attempt& attempt, const Figure& figure) {
  Tally& tally = tallies_[{{std::string(figure.row), attempt.target}, std::string(figure.metric)}];
  if (std::exchange(tally.run, attempt.record.run) != attempt.record.run) tally.of_run = 0;
  return tally;
}

void Rows::put_one_of_many(const Attempt& attempt, const Figure& figure, Sample sample) {
  Tally& tally = tally_of(attempt, figure);
  if (sample.value && sample.outcome == report::Outcome::ok)
    tally.all.record(Nanoseconds(std::llround(*sample.value * ns_per_ms)));
  if (tally.of_run++ < max_samples_per_run) {
    put(attempt, figure, std::move(sample));
  } else {
    tally.is_kept = false;
  }
}

void Rows::put_series(const Attempt& attempt, const Figure& figure, const load::Series& series) {
  Tally& tally = tally_of(attempt, figure);
  const bool is_service = figure.metric == "service";
  tally.all.merge(is_service ? series.service() : series.latency());
  if (series.ended() > series.samples().size()) tally.is_kept = false;
  for (const load::Sample& one : series.samples()) {
    Sample sample{to_ms(is_service ? one.service() : one.latency()), is_service ? one.sent : one.due,
                  outcome_of(one.outcome)};
    if (one.outcome != load::Outcome::ok) sample.error = one.error.empty() ? "failed" : one.error;
    put(attempt, figure, std::move(sample));
  }
}

/// One figure of a whole run; one that there is not leaves no sample.
void Rows::put_value(const Attempt& attempt, const Figure& figure, std::optional<double> value) {
  if (value) put(attempt, figure, {value, attempt.load_start});
}

void Rows::add(const Attempt& attempt) {
  if (attempt.failure) failures_.try_emplace({"turns", attempt.target}, *attempt.failure);
  row_of("turns", attempt.target);
  if (!attempt.loaded) return;
  add_turns(attempt);
  add_load(attempt);
  add_series(attempt, "chunk_gaps", attempt.gaps);
  add_checks(row_of("chunk_gaps", attempt.target), attempt.turn_checks.only("events_in_order"));
  for (const auto& [probe, probed] : attempt.probes) add_probe(attempt, probe, probed);
  if (attempt.setup_subscriptions.ended() > 0) {
    add_series(attempt, "setup_subscribe", attempt.setup_subscriptions);
    Checks checks;
    for (const load::Sample& one : attempt.setup_subscriptions.samples())
      checks.check("subscribed", one.outcome == load::Outcome::ok, "ok", one.error);
    add_checks(row_of("setup_subscribe", attempt.target), checks);
  }
  add_event_loop(attempt);
  add_server(attempt);
}

void Rows::add_turns(const Attempt& attempt) {
  for (const auto& turn : attempt.turns) {
    const bool ok = turn->completed.has_value();
    const auto put_time = [&](std::string_view metric, const std::optional<Instant>& at) {
      Sample sample{between(turn->sent, at), turn->sent};
      if (!ok) sample = {sample.value, sample.at, report::Outcome::failed, "did not complete"};
      put_one_of_many(attempt, {"turns", metric}, std::move(sample));
    };
    put_time("accepted", turn->accepted);
    put_time("first_token", turn->first_token);
    put_time("last_token", turn->last_token);
    put_time("total", turn->completed);
    outcomes_[{"turns", attempt.target}][ok ? "ok" : "failed"] += 1;
    if (attempt.model_requests.times.empty()) continue;
    const auto provider = attempt.model_requests.times.find(turn->line.marker);
    Sample added{std::nullopt, turn->sent};
    if (!ok) added = {std::nullopt, turn->sent, report::Outcome::failed, "did not complete"};
    if (ok && provider != attempt.model_requests.times.end())
      added.value = to_ms(*turn->completed - turn->sent - provider->second);
    put_one_of_many(attempt, {"turns", "added"}, std::move(added));
  }
  add_checks(row_of("turns", attempt.target), attempt.turn_checks);
}

void Rows::add_load(const Attempt& attempt) {
  const double seconds = std::chrono::duration<double>(attempt.turns_time).count();
  if (seconds <= 0) return;
  const auto completed = static_cast<double>(attempt.record.turn_count);
  put_value(attempt, {"load", "total"}, seconds * 1e3);
  put_value(attempt, {"load", "turns_per_s", "turns/s", report::Better::higher}, completed / seconds);
  Checks checks;
  checks.check(
      "every_turn_completed", attempt.record.turn_count == attempt.turns.size(),
      [&] { return fmt::to_string(attempt.turns.size()); },
      [&] { return fmt::to_string(attempt.record.turn_count); });
  report::Row& row = row_of("load", attempt.target);
  add_checks(row, checks);
  row.counters["turns"] += static_cast<std::int64_t>(attempt.record.turn_count);
  if (!options_.slo_ms) return;
  const auto good = std::ranges::count_if(attempt.turns, [&](const auto& turn) {
    return turn->completed && *turn->completed - turn->sent <= std::chrono::milliseconds(*options_.slo_ms);
  });
  put_value(attempt, {"load", "goodput_per_s", "turns/s", report::Better::higher},
            static_cast<double>(good) / seconds);
}

void Rows::add_series(const Attempt& attempt, std::string_view row, const load::Series& series) {
  put_series(attempt, {row, "total"}, series);
  auto& outcomes = outcomes_[{std::string(row), attempt.target}];
  for (const load::Outcome outcome :
       {load::Outcome::ok, load::Outcome::failed, load::Outcome::timeout, load::Outcome::censored})
    outcomes[name_of(outcome_of(outcome))] += series.count(outcome);
}

void Rows::add_probe(const Attempt& attempt, Probe probe, const Attempt::Probed& probed) {
  const load::Series& series = probed.series;
  const std::string_view name = gateway_bench::row_of(probe);
  add_series(attempt, name, series);
  put_series(attempt, {name, "service"}, series);
  report::Row& row = row_of(name, attempt.target);
  row.counters["due"] += static_cast<std::int64_t>(series.due_starts());
  row.counters["late"] += static_cast<std::int64_t>(series.late_starts());
  row.counters["unsent"] += static_cast<std::int64_t>(series.unsent_starts());
  row.counters["censored"] += static_cast<std::int64_t>(series.count(load::Outcome::censored));
  // Of several runs the worst one stands.
  const Nanoseconds error = series.start_error().quantile(0.99).value_or(Nanoseconds(0));
  row.counters["startErrorP99Ns"] = std::max<std::int64_t>(row.counters["startErrorP99Ns"], error.count());
  Checks checks = probed.checks;
  checks.check(
      "every_start_accounted", series.ended() + series.unsent_starts() == series.due_starts(),
      [&] { return fmt::format("{} starts", series.due_starts()); },
      [&] { return fmt::format("{} ended, {} unsent", series.ended(), series.unsent_starts()); });
  add_checks(row, checks);
  // One run with starts is enough for a row.
  const bool had_starts = row.counters["due"] > 0;
  row.status = had_starts ? report::RowStatus::ok : report::RowStatus::unavailable;
  row.reason = had_starts ? std::nullopt : std::optional("no start was due while the load lasted");
}

void Rows::add_event_loop(const Attempt& attempt) {
  Checks checks;
  for (const EventLoopReading& reading : attempt.event_loop) {
    const auto put_reading = [&](std::string_view metric, std::string_view unit,
                                 const std::optional<double>& value) {
      put(attempt, {"event_loop", metric, unit}, {value, reading.at});
      if (!value) return;
      checks.check(
          "not_negative", *value >= 0, [] { return "0 or more"; },
          [&] { return fmt::format("{} {}", metric, *value); });
    };
    put_reading("delay_p99", "ms", reading.delay_p99_ms);
    put_reading("delay_max", "ms", reading.delay_max_ms);
    put_reading("utilization", "ratio", reading.utilization);
    put_reading("cpu_core_ratio", "ratio", reading.cpu_core_ratio);
  }
  if (!attempt.event_loop.empty()) add_checks(row_of("event_loop", attempt.target), checks);
}

void Rows::add_server(const Attempt& attempt) {
  const report::GatewayRun& run = attempt.record;
  const auto put_figure = [&](std::string_view metric, std::string_view unit, std::optional<double> value) {
    put_value(attempt, {"server", metric, unit}, value);
  };
  if (run.cpu_usage.process) {
    const double total = run.cpu_usage.process->total_ms;
    put_figure("cpu_total", "ms", total);
    if (run.turn_count > 0) put_figure("cpu_per_turn", "ms", total / static_cast<double>(run.turn_count));
    if (run.cpu_usage.wall_ms > 0) put_figure("core_ratio", "ratio", total / run.cpu_usage.wall_ms);
  }
  if (run.cpu_usage.main_thread) put_figure("cpu_main_thread", "ms", run.cpu_usage.main_thread->total_ms);
  const report::GatewayMemories& memory = run.memory;
  put_figure("rss_before", "bytes", scaled(memory.before.rss_mb, bytes_per_mb));
  put_figure("rss_peak", "bytes", scaled(memory.peak_rss_mb, bytes_per_mb));
  put_figure("rss_after", "bytes", scaled(memory.after.rss_mb, bytes_per_mb));
  put_figure("pss_after", "bytes", scaled(memory.after.pss_mb, bytes_per_mb));
  put_figure("heap_used", "bytes", scaled(memory.after.heap_used_mb, bytes_per_mb));
  put_figure("external", "bytes", scaled(memory.after.external_mb, bytes_per_mb));
  put_figure("array_buffers", "bytes", scaled(memory.after.array_buffers_mb, bytes_per_mb));
  put_figure("rss_growth", "bytes", growth(memory.before.rss_mb, memory.after.rss_mb));
  put_figure("heap_growth", "bytes", growth(memory.before.heap_used_mb, memory.after.heap_used_mb));
  put_figure("external_growth", "bytes", growth(memory.before.external_mb, memory.after.external_mb));
  put_figure("array_buffers_growth", "bytes",
             growth(memory.before.array_buffers_mb, memory.after.array_buffers_mb));
  put_figure("ready", "ms", run.ready_ms);
  if (run.gateway_process) put_figure("stop", "ms", run.gateway_process->stop_duration_ms);
  add_checks(row_of("server", attempt.target), attempt.server_checks);
}

void Rows::add_checks(report::Row& row, const Checks& checks) {
  Checks all(std::move(row.invariants));
  all.merge(checks);
  row.invariants = all.all();
}

void Rows::finish() {
  for (report::Row& row : document_.rows) {
    if (row.bench != options_.bench) continue;
    summarise(row);
    bench::fail_if_broken(row);
    const auto failure = failures_.find({row.row, row.target});
    if (failure == failures_.end()) continue;
    row.status = report::RowStatus::failed;
    row.reason = failure->second;
  }
}

void Rows::summarise(report::Row& row) {
  for (auto& [name, metric] : row.metrics) {
    const auto tally = tallies_.find({{row.row, row.target}, name});
    if (tally != tallies_.end() && !tally->second.is_kept) metric.histogram = tally->second.all.data();
    metric.summary = report::summary_of(metric);
  }
  row.outcomes.clear();
  if (row.metrics.empty()) return;
  if (const auto known = outcomes_.find({row.row, row.target}); known != outcomes_.end()) {
    row.outcomes = known->second;
    std::erase_if(row.outcomes, [](const auto& entry) { return entry.second == 0; });
    return;
  }
  for (const report::Outcome outcome : row.metrics.begin()->second.outcome)
    row.outcomes[name_of(outcome)] += 1;
}

}  // namespace tare::gateway_bench
