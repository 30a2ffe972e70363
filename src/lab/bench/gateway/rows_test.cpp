#include "lab/bench/gateway/rows.hpp"

#include <set>

#include <gtest/gtest.h>

#include "lab/report/consistency.hpp"

namespace tare::gateway_bench {
namespace {

using namespace std::chrono_literals;
using load::Outcome;
using report::RowStatus;

const Instant begun{};

/// A turn that was accepted after 1 ms, had its text after 2 and 4 and was over after so long.
std::shared_ptr<Turn> turn(std::string marker, Instant sent, std::optional<Nanoseconds> total) {
  auto made = std::make_shared<Turn>();
  made->line.marker = std::move(marker);
  made->sent = sent;
  made->accepted = sent + 1ms;
  made->first_token = sent + 2ms;
  made->last_token = sent + 4ms;
  if (total) made->completed = sent + *total;
  return made;
}

/// Probes of one kind: 10 ms after their moment, sent 3 ms after it.
Attempt::Probed probed(std::size_t count, Outcome outcome = Outcome::ok) {
  Attempt::Probed made{load::Series(max_samples_per_run), {}};
  for (std::size_t i = 0; i < count; ++i) {
    const Instant due = begun + 100ms * static_cast<int>(i);
    made.series.due();
    made.series.add({due, due + 3ms, due + 10ms, outcome, outcome == Outcome::ok ? "" : "no"});
  }
  return made;
}

/// A run with two turns, of which the model server took 3 ms each, and 20 probes.
Attempt attempt(std::uint64_t run = 0, std::string target = "embedded") {
  Attempt made;
  made.target = std::move(target);
  made.loaded = true;
  made.record.run = run;
  made.record.turn_count = 2;
  made.turns = {turn("a", begun, 5ms), turn("b", begun + 1ms, 7ms)};
  made.model_requests.times = {{"a", 3ms}, {"b", 3ms}};
  made.turns_time = 500ms;
  made.probes[Probe::readyz] = probed(20);
  made.turn_checks.check("reply_exact", true, "", "");
  made.server_checks.check("clean_exit", true, "", "");
  return made;
}

struct Written {
  explicit Written(const std::vector<Attempt>& attempts, Options wish = {}) : options(std::move(wish)) {
    document.complete = true;
    std::set<std::string> targets;
    Rows rows(document, options, begun);
    for (const Attempt& one : attempts) {
      rows.add(one);
      rows.finish();  // as a run does after each
      if (targets.insert(one.target).second) document.targets.emplace_back().id = one.target;
    }
    std::set<std::string> seen;
    for (const report::Row& row : document.rows)
      EXPECT_TRUE(seen.insert(row.row + "@" + row.target).second) << row.row << " is there twice";
    EXPECT_NO_THROW(report::check_consistent(document, "test"));
  }
  const report::Row& row(std::string_view name, std::string_view target = "embedded") const {
    const report::Row* found = report::find_row(document, name, target);
    if (found == nullptr) throw std::runtime_error("no row " + std::string(name));
    return *found;
  }
  const report::Metric& metric(std::string_view row_name, const char* name) const {
    return row(row_name).metrics.at(name);
  }
  std::vector<double> samples(std::string_view row_name, const char* name) const {
    std::vector<double> values;
    for (const auto& value : metric(row_name, name).samples) values.push_back(value.value());
    return values;
  }

  Options options;
  report::Document document;
};

using Values = std::vector<double>;

TEST(GatewayRows, ATurnHasItsStagesAndWhatTheGatewayAdded) {
  const Written written({attempt()});
  EXPECT_EQ(written.samples("turns", "accepted"), (Values{1, 1}));
  EXPECT_EQ(written.samples("turns", "first_token"), (Values{2, 2}));
  EXPECT_EQ(written.samples("turns", "last_token"), (Values{4, 4}));
  EXPECT_EQ(written.samples("turns", "total"), (Values{5, 7}));
  EXPECT_EQ(written.samples("turns", "added"), (Values{2, 4}));
  EXPECT_EQ(written.metric("turns", "total").at_ms, (Values{0, 1}));
  EXPECT_EQ(written.row("turns").status, RowStatus::ok);
}

TEST(GatewayRows, WithoutAModelServerThatTellsThereIsNothingAdded) {
  Attempt foreign = attempt();
  foreign.model_requests.times.clear();
  EXPECT_FALSE(Written({foreign}).row("turns").metrics.contains("added"));
}

TEST(GatewayRows, ATurnThatDidNotCompleteIsInNoFigure) {
  Attempt lost = attempt();
  lost.turns.push_back(turn("c", begun, std::nullopt));
  const Written written({lost});
  EXPECT_EQ(written.metric("turns", "total").summary.count, 2U);
  EXPECT_EQ(written.metric("turns", "first_token").summary.count, 2U);
  EXPECT_EQ(written.metric("turns", "total").error.back(), "did not complete");
  EXPECT_EQ(written.row("turns").outcomes, (std::map<std::string, std::uint64_t>{{"failed", 1}, {"ok", 2}}));
  EXPECT_EQ(written.row("load").status, RowStatus::failed);
  EXPECT_EQ(written.row("load").reason, "every_turn_completed: expected 3, got 2 (1 of 1 times)");
}

TEST(GatewayRows, ALoadHasItsPaceAndTheGoodTurnsOfIt) {
  EXPECT_EQ(Written({attempt()}).samples("load", "turns_per_s"), Values{4});
  EXPECT_FALSE(Written({attempt()}).row("load").metrics.contains("goodput_per_s"));
  Options options;
  options.slo_ms = 6;
  const Written written({attempt()}, options);
  EXPECT_EQ(written.samples("load", "goodput_per_s"), Values{2});
  EXPECT_EQ(written.metric("load", "goodput_per_s").better, report::Better::higher);
}

TEST(GatewayRows, AProbeCountsFromItsMomentAndFromItsSending) {
  const Written written({attempt()});
  EXPECT_EQ(written.samples("readyz", "total"), Values(20, 10.0));
  EXPECT_EQ(written.samples("readyz", "service"), Values(20, 7.0));
  const auto& counters = written.row("readyz").counters;
  EXPECT_EQ(counters.at("due"), 20);
  EXPECT_EQ(counters.at("late"), 20);
  EXPECT_EQ(counters.at("unsent"), 0);
  EXPECT_NEAR(static_cast<double>(counters.at("startErrorP99Ns")), 3e6, 1e4);
}

TEST(GatewayRows, WhatFailedIsCountedAndInNoFigure) {
  Attempt failing = attempt();
  failing.probes[Probe::sessions_list] = probed(3, Outcome::failed);
  failing.probes[Probe::chat_history] = probed(2, Outcome::censored);
  const Written written({failing});
  EXPECT_EQ(written.metric("sessions_list", "total").summary.count, 0U);
  EXPECT_EQ(written.metric("sessions_list", "total").error.front(), "no");
  EXPECT_EQ(written.row("sessions_list").outcomes.at("failed"), 3U);
  EXPECT_EQ(written.row("chat_history").counters.at("censored"), 2);
  EXPECT_EQ(written.row("chat_history").status, RowStatus::ok);
}

TEST(GatewayRows, AStartThatIsNotAccountedForFailsItsRow) {
  Attempt missing = attempt();
  missing.probes[Probe::readyz].series.due();
  const Written written({missing});
  EXPECT_EQ(written.row("readyz").status, RowStatus::failed);
  EXPECT_EQ(written.row("readyz").reason,
            "every_start_accounted: expected 21 starts, got 20 ended, 0 unsent (1 of 1 times)");
}

TEST(GatewayRows, BeyondTheSamplesThatAreKeptHistogramsGoOn) {
  Attempt many = attempt();
  many.probes[Probe::readyz] = probed(max_samples_per_run + 52);
  many.turns.clear();
  for (std::size_t i = 0; i < max_samples_per_run + 1; ++i) many.turns.push_back(turn("a", begun, 5ms));
  many.record.turn_count = many.turns.size();
  const Written written({many, attempt(1)});
  for (const char* name : {"total", "service"}) {
    const report::Metric& metric = written.metric("readyz", name);
    EXPECT_EQ(metric.samples.size(), max_samples_per_run + 20) << name;  // the second run has its own
    ASSERT_TRUE(metric.histogram) << name;
    EXPECT_EQ(metric.histogram->count, max_samples_per_run + 72) << name;
    EXPECT_EQ(metric.summary.count, max_samples_per_run + 72) << name;
  }
  EXPECT_EQ(written.metric("turns", "total").samples.size(), max_samples_per_run + 2);
  EXPECT_EQ(written.metric("turns", "total").histogram->count, max_samples_per_run + 3);
  EXPECT_EQ(written.row("turns").outcomes.at("ok"), max_samples_per_run + 3);
  EXPECT_FALSE(Written({attempt()}).metric("readyz", "total").histogram);
}

TEST(GatewayRows, RunsStandInOneRowAsProcesses) {
  const Written written({attempt(0), attempt(1), attempt(2)});
  const report::Metric& total = written.metric("turns", "total");
  EXPECT_EQ(total.process, (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(total.round, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(written.samples("load", "turns_per_s"), (Values{4, 4, 4}));
  EXPECT_EQ(written.row("readyz").counters.at("due"), 60);
  EXPECT_EQ(written.row("turns").invariants.front().checked, 3U);
}

TEST(GatewayRows, GatewaysHaveRowsOfTheirOwn) {
  const Written written({attempt(0, "embedded"), attempt(0, "openclaw")});
  EXPECT_EQ(written.row("turns", "embedded").metrics.at("total").samples.size(), 2U);
  EXPECT_EQ(written.row("turns", "openclaw").metrics.at("total").samples.size(), 2U);
}

TEST(GatewayRows, ARunThatFailedBeforeItsLoadHasNoFigureOfIt) {
  Attempt early;
  early.target = "embedded";
  early.failure = "the gateway did not become ready";
  const Written written({early});
  ASSERT_EQ(written.document.rows.size(), 1U);
  EXPECT_EQ(written.row("turns").status, RowStatus::failed);
  EXPECT_EQ(written.row("turns").reason, "the gateway did not become ready");
  EXPECT_TRUE(written.row("turns").metrics.empty());
}

TEST(GatewayRows, ARunThatFailedAfterOthersLeavesTheirFigures) {
  Attempt second = attempt(1);
  second.loaded = false;
  second.failure = "it ended by itself";
  const Written written({attempt(0), second});
  EXPECT_EQ(written.row("turns").status, RowStatus::failed);
  EXPECT_EQ(written.row("turns").reason, "it ended by itself");
  EXPECT_EQ(written.samples("turns", "total"), (Values{5, 7}));
  EXPECT_EQ(written.row("readyz").status, RowStatus::ok);
}

TEST(GatewayRows, ABrokenCheckFailsItsRow) {
  Attempt wrong = attempt();
  wrong.turn_checks.check("reply_exact", false, "'a'", "'b'");
  wrong.turn_checks.check("events_in_order", false, "1", "0");
  wrong.gaps.due();
  wrong.gaps.add({begun, begun, begun + 1ms});
  const Written written({wrong, attempt(1)});
  EXPECT_EQ(written.row("turns").reason, "reply_exact: expected 'a', got 'b' (1 of 3 times)");
  EXPECT_EQ(written.row("chunk_gaps").status, RowStatus::failed);
  EXPECT_EQ(written.row("server").status, RowStatus::ok);
}

TEST(GatewayRows, AProbeWithoutAStartIsUnavailableUnlessAnotherRunHadOne) {
  Attempt without = attempt();
  without.probes[Probe::fresh_connection] = probed(0);
  EXPECT_EQ(Written({without}).row("fresh_connection").status, RowStatus::unavailable);
  Attempt with = attempt(1);
  with.probes[Probe::fresh_connection] = probed(1);
  for (const auto& order : {std::vector{without, with}, std::vector{with, without}}) {
    const Written written(order);
    EXPECT_EQ(written.row("fresh_connection").status, RowStatus::ok);
    EXPECT_EQ(written.row("fresh_connection").reason, std::nullopt);
  }
}

TEST(GatewayRows, SubscriptionsOfTheSetUpAreARowOfTheirOwn) {
  Attempt subscribed = attempt();
  subscribed.setup_subscriptions.due();
  subscribed.setup_subscriptions.add({begun, begun, begun + 2ms});
  EXPECT_EQ(Written({subscribed}).samples("setup_subscribe", "total"), Values{2});
  EXPECT_THROW(Written({attempt()}).row("setup_subscribe"), std::runtime_error);
}

TEST(GatewayRows, AnEventLoopHasWhatItSays) {
  Attempt told = attempt();
  told.event_loop = {{begun, 1.5, 2.5, {}, 0.25}, {begun + 1s, 3, 4, {}, 0.5}};
  const Written written({told});
  EXPECT_EQ(written.samples("event_loop", "delay_p99"), (Values{1.5, 3}));
  EXPECT_EQ(written.samples("event_loop", "cpu_core_ratio"), (Values{0.25, 0.5}));
  EXPECT_EQ(written.metric("event_loop", "utilization").summary.count, 0U);
}

TEST(GatewayRows, AServerHasItsFiguresInBytesAndWhatIsUnknownIsNotThere) {
  Attempt measured = attempt();
  report::GatewayRun& run = measured.record;
  run.cpu_usage.process = report::CpuMs{6, 4, 10};
  run.cpu_usage.wall_ms = 500;
  run.memory.before.rss_mb = 8;
  run.memory.after.rss_mb = 7;
  run.memory.peak_rss_mb = 9;
  const Written written({measured});
  EXPECT_EQ(written.samples("server", "cpu_total"), Values{10});
  EXPECT_EQ(written.samples("server", "cpu_per_turn"), Values{5});
  EXPECT_EQ(written.samples("server", "core_ratio"), Values{0.02});
  EXPECT_EQ(written.samples("server", "rss_peak"), Values{9.0 * 1024 * 1024});
  EXPECT_EQ(written.samples("server", "rss_growth"), Values{-1.0 * 1024 * 1024});
  for (const char* absent : {"cpu_main_thread", "heap_used", "heap_growth", "ready", "stop"})
    EXPECT_FALSE(written.row("server").metrics.contains(absent)) << absent;
}

}  // namespace
}  // namespace tare::gateway_bench
