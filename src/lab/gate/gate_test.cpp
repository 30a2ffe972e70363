#include "lab/gate/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/gate/gate_for_tests.hpp"
#include "lab/verdict/samples.hpp"

namespace tare::gate {
namespace {

using verdict::made_document;
using verdict::made_metric;
using verdict::made_row;
using verdict::summarise;

using report::Document;
using report::Verdict;
using testing::HasSubstr;

/// A lane's samples around `median`, every row checked.
report::Row row(const std::string& name, const std::string& target, double median, std::uint64_t seed,
                std::uint32_t processes = 8, std::uint32_t rounds = 25) {
  measure::Random random(seed);
  report::Row made = made_row(name, target, made_metric({median, 0.02, 0, 0.002}, processes, rounds, random));
  made.counters["syncFiles"] = 3;
  made.resources.pss_bytes = 100 << 20;
  made.invariants.push_back({"exit_code", true, processes * rounds, 0, "code 0", {}});
  return made;
}

Document run(double median = 100, std::uint64_t seed = 1, std::uint32_t processes = 8) {
  return made_document(
      {row("a", "node", median, seed, processes), row("b", "node", 2 * median, seed + 50, processes)});
}

/// The results of the budgets as written, without the one that every gate has.
std::vector<BudgetResult> results(const std::string& fields, const Document& now,
                                  const Document* base = nullptr, const GateOptions& options = {}) {
  std::vector<BudgetResult> all = gate("[[budget]]\n" + fields, now, base, options).budgets;
  all.erase(all.begin());
  return all;
}

BudgetResult only(const std::string& fields, const Document& now, const Document* base = nullptr,
                  const GateOptions& options = {}) {
  const auto all = results("row = 'a'\n" + fields, now, base, options);
  EXPECT_EQ(all.size(), 1U);
  return all.at(0);
}

constexpr const char* to_baseline = "versus = 'baseline'\nmax_increase = '5 %'";

report::Metric& total(Document& document, std::size_t row = 0) {
  return document.rows.at(row).metrics.at("total");
}

TEST(Gate, judges_the_interval_and_not_the_point) {
  const Document now = run();
  const auto [low, high] = *only("max = '1 s'", now).interval;
  const auto at = [&](double limit) { return only(fmt::format("max = '{} ms'", limit), now); };
  expect(Verdict::pass, "", at(high));
  expect(Verdict::inconclusive, "the limit lies within the interval", at((low + high) / 2));
  expect(Verdict::inconclusive, "the limit lies within the interval", at(low));
  expect(Verdict::fail, "the whole interval is past the limit", at(low * 0.999));
  expect(Verdict::pass, "", only(fmt::format("min = '{} ms'", low), now));
  expect(Verdict::fail, "past", only(fmt::format("min = '{} ms'", high * 1.001), now));
}

/// A row on a lane whose processes have these levels, each with the same small scatter around it.
Document levels(const std::vector<double>& medians, std::uint32_t rounds = 25) {
  report::Metric metric;
  metric.unit = "ms";
  std::uint32_t process = 0;
  for (const double median : medians) {
    for (std::uint32_t i = 0; i < rounds; ++i)
      verdict::add_sample(metric, median * (1 + 0.001 * (i % 3)), process * rounds + i, process);
    ++process;
  }
  report::Row made = made_row("a", "node", metric);
  made.invariants.push_back({"exit_code", true, process * rounds, 0, "code 0", {}});
  return made_document({made});
}

TEST(Gate, a_quantile_is_judged_by_processes_where_there_are_enough_of_them) {
  const Document spread = levels({100, 101, 102, 110, 111, 112});
  const BudgetResult by_process = only("max = '107 ms'", spread);
  // The samples alone would pass 103 ms: their interval knows nothing of processes.
  expect(Verdict::inconclusive,
         "the limit lies within the interval (6 processes); more processes (--processes) make it narrower",
         by_process);
  EXPECT_LE(by_process.interval->at(0), 100.2);
  EXPECT_GE(by_process.interval->at(1), 112);
  EXPECT_EQ(by_process.measured, spread.rows[0].metrics.at("total").summary.p50);
  expect(Verdict::pass, "", only("max = '113 ms'", spread));
  expect(Verdict::fail, "", only("max = '99 ms'", spread));
  // p95 needs 20 samples in every process; with 10 the interval is that of all samples.
  expect(Verdict::inconclusive, "6 processes", only("quantile = 'p95'\nmax = '107 ms'", spread));
  expect(Verdict::inconclusive, "needs 72 good samples",
         only("quantile = 'p95'\nmax = '107 ms'", levels({100, 101, 102, 110, 111, 112}, 10)));
}

TEST(Gate, the_measured_quantile_always_lies_in_its_interval) {
  // One process of eleven is slow: its samples are the slowest twentieth of all, but not of most processes.
  const Document now = levels({100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 300}, 20);
  for (const char* quantile : {"p50", "p90", "p95"}) {
    const BudgetResult result = only(fmt::format("quantile = '{}'\nmax = '1 s'", quantile), now);
    EXPECT_LE(result.interval->at(0), *result.measured) << quantile;
    EXPECT_GE(result.interval->at(1), *result.measured) << quantile;
  }
  EXPECT_GE(only("quantile = 'p95'\nmax = '1 s'", now).interval->at(1), 300);
}

TEST(Gate, dependent_samples_of_few_processes_are_doubted_aloud) {
  const Document two = levels({100, 200}, 100);
  const std::string doubt = "samples depend on each other (lag-1 0.9";
  expect(Verdict::pass, doubt, only("max = '1 s'", two));
  expect(Verdict::fail, doubt, only("max = '1 ms'", two));
  expect(Verdict::pass, "so that the interval is too narrow; measure with --processes 8",
         only("max = '1 s'", two));
  expect(Verdict::pass, "--processes 8 and at least 20 samples in each",
         only("quantile = 'p95'\nmax = '1 s'", two));
  // Samples that stand for themselves, and processes that are counted, leave no doubt.
  EXPECT_FALSE(only("max = '1 s'", levels({100, 100.01}, 100)).reason);
  EXPECT_FALSE(only("max = '1 s'", levels({100, 120, 140, 160, 180, 200})).reason);
}

TEST(Gate, units_of_limits_are_converted) {
  expect(Verdict::pass, "", only("max = '0.2 s'", run()));
  expect(Verdict::fail, "", only("max = '2000 us'", run()));
  EXPECT_DOUBLE_EQ(only("max = '0.2 s'", run()).max.value(), 200);
  expect(Verdict::unmeasured, "the limit is in MB, the figure in ms", only("max = '1 MB'", run()));
  expect(Verdict::unmeasured, "the limit is in a plain number", only("max = 1000", run()));
}

TEST(Gate, a_plain_limit_fits_a_unit_that_cannot_be_written) {
  Document now = run();
  total(now).unit = "requests/s";
  expect(Verdict::pass, "", only("min = 50", now));
}

TEST(Gate, wildcards_apply_to_every_row_and_lane) {
  Document now = run();
  now.rows.push_back(row("a", "guest", 3, 9));
  EXPECT_EQ(results("max = '1 s'", now).size(), 3U);
  EXPECT_EQ(results("target = 'g*'\nmax = '1 s'", now).size(), 1U);
  EXPECT_EQ(results("row = '?'\ntarget = 'node'\nmax = '1 s'", now).size(), 2U);
  now.rows[0].metrics["spawn"] = total(now);
  EXPECT_EQ(results("row = 'a'\ntarget = 'node'\nmetric = '*'\nmax = '1 s'", now).size(), 2U);
}

TEST(Gate, the_invariants_are_always_a_budget) {
  Document now = run();
  EXPECT_EQ(gate("[[budget]]\nmax = '1 s'", now).budgets[0].verdict, Verdict::pass);
  now.rows[1].invariants[0] = {"exit_code", false, 200, 1, "code 0", "code 1"};
  now.invariants = {false, {}};
  const GateDocument broken = gate("[[budget]]\nmax = '1 s'", now);
  expect(Verdict::fail, "b on node: exit_code: expected code 0, got code 1", broken.budgets[0]);
  EXPECT_EQ(broken.verdict, Verdict::fail);
  for (report::Row& one : now.rows) one.invariants.clear();
  now.invariants.ok = true;
  expect(Verdict::unmeasured, "nothing was checked", gate("[[budget]]\nmax = '1 s'", now).budgets[0]);
}

// ---- A gate never passes because something is missing.

TEST(NothingMissingPasses, a_budget_that_matches_nothing) {
  expect(Verdict::unmeasured, "the run has no row 'aa'", results("row = 'aa'\nmax = '1 s'", run()).at(0));
  expect(Verdict::unmeasured, "no row like 'z*'", results("row = 'z*'\nmax = '1 s'", run()).at(0));
  expect(Verdict::unmeasured, "no target 'nod'; did you mean 'node'?",
         results("target = 'nod'\nmax = '1 s'", run()).at(0));
  Document empty = run();
  empty.rows.clear();
  expect(Verdict::unmeasured, "", results("max = '1 s'", empty).at(0));
  EXPECT_EQ(gate("[[budget]]\nmax = '1 s'", empty).verdict, Verdict::unmeasured);
}

TEST(NothingMissingPasses, a_metric_a_counter_or_a_resource_that_is_not_there) {
  expect(Verdict::unmeasured, "no metric 'spwn' (it has total)", only("metric = 'spwn'\nmax = '1 s'", run()));
  expect(Verdict::unmeasured, "no metric 'x*'", only("metric = 'x*'\nmax = '1 s'", run()));
  expect(Verdict::unmeasured, "no counter 'files' (it has syncFiles)",
         only("counter = 'files'\nmax = 9", run()));
  expect(Verdict::unmeasured, "no threads of this row", only("resource = 'threads'\nmax = 9", run()));
  Document half = run();
  half.rows[0].resources.cpu_user_ms = 1;
  expect(Verdict::unmeasured, "no cpuMs", only("resource = 'cpuMs'\nmax = '9 ms'", half));
  expect(Verdict::unmeasured, "no emulation tax", only("tax = 'emulation'\nmax = 9", run()));
}

TEST(NothingMissingPasses, samples_that_are_missing_or_all_bad) {
  Document now = run();
  for (auto& outcome : total(now).outcome) outcome = report::Outcome::timeout;
  total(now).summary = measure::summarise(std::vector<double>{});
  now.rows[0].outcomes = {{"timeout", 200}};
  expect(Verdict::unmeasured, "no good sample; n=0/200", only("max = '60 s'", now));
  const Document base = run();
  expect(Verdict::unmeasured, "the run has no good sample", only(to_baseline, now, &base));
  expect(Verdict::unmeasured, "the baseline has no good sample", only(to_baseline, base, &now));
  now.rows[0].outcomes.clear();
  expect(Verdict::unmeasured, "no sample was taken", only("outcome = 'failed'\nmax = 0", now));
}

TEST(NothingMissingPasses, a_quantile_that_the_samples_do_not_carry) {
  const Document few = made_document({row("a", "node", 100, 1, 1, 50)});
  expect(Verdict::unmeasured, "n/a (n<100)", only("quantile = 'p99'\nmax = '1 s'", few));
  const Document more = made_document({row("a", "node", 100, 1, 1, 150)});
  expect(Verdict::inconclusive, "needs 368 good samples", only("quantile = 'p99'\nmax = '1 s'", more));
  expect(Verdict::unmeasured, "n/a (n<100) in the run",
         only("versus = 'baseline'\nquantile = 'p99'\nmax_increase = '9 %'", few, &more));
}

TEST(NothingMissingPasses, a_row_that_failed_or_is_unavailable) {
  Document now = run();
  now.rows[0].status = report::RowStatus::failed;
  now.rows[0].reason = "the driver died";
  const Document base = run();
  for (const std::string budget :
       {"max = '1 s'", "counter = 'syncFiles'\nmax = 9", "outcome = 'failed'\nmax = 9",
        "resource = 'pssBytes'\nmax = '1 GB'", "tax = 'total'\nmax = 9", to_baseline}) {
    expect(Verdict::unmeasured, "failed: the driver died",
           only(budget + "\nunavailable = 'skip'", now, &base));
  }
  expect(Verdict::unmeasured, "failed in the baseline: the driver died", only(to_baseline, base, &now));
  now.rows[0].status = report::RowStatus::unavailable;
  expect(Verdict::unmeasured, "unavailable: the driver died", only("max = '1 s'", now));
}

TEST(NothingMissingPasses, skip_leaves_out_what_is_unavailable_but_never_everything) {
  Document now = run();
  now.rows[0].status = report::RowStatus::unavailable;
  const GateDocument skipped = gate("[[budget]]\nmax = '1 s'\nunavailable = 'skip'", now);
  EXPECT_EQ(skipped.budgets.size(), 2U);
  EXPECT_THAT(skipped.notes, testing::Contains(HasSubstr("1 unavailable row was left out")));
  expect(Verdict::unmeasured, "every row that it matches is unavailable",
         only("max = '1 s'\nunavailable = 'skip'", now));
  const Document base = run();
  expect(Verdict::unmeasured, "unavailable",
         only(std::string(to_baseline) + "\nunavailable = 'skip'", now, &base));
}

TEST(NothingMissingPasses, a_row_that_vanished_or_is_new) {
  const Document base = run();
  Document now = run(100, 3);
  now.rows.erase(now.rows.begin());
  const auto all = results(to_baseline, now, &base);
  ASSERT_EQ(all.size(), 2U);
  expect(Verdict::unmeasured, "the run has no such row", all[1]);
  EXPECT_EQ(all[1].row, "a");
  expect(Verdict::unmeasured, "the baseline has no such row", results(to_baseline, base, &now).at(0));
}

TEST(NothingMissingPasses, a_metric_that_vanished) {
  Document base = run();
  base.rows[0].metrics["spawn"] = total(base);
  const Document now = run(100, 3);
  const auto all = results("row = 'a'\nmetric = '*'\n" + std::string(to_baseline), now, &base);
  ASSERT_EQ(all.size(), 2U);
  expect(Verdict::unmeasured, "the run has no metric 'spawn'", all[0]);
}

TEST(NothingMissingPasses, a_baseline_that_was_not_given) {
  expect(Verdict::unmeasured, "no --baseline was given", only(to_baseline, run()));
}

TEST(NothingMissingPasses, a_target_that_is_not_in_the_run) {
  // Once, however many rows it would have held.
  const auto all = results("versus = 'nod'\nmax_ratio = 9", run());
  ASSERT_EQ(all.size(), 1U);
  expect(Verdict::unmeasured, "no target 'nod' in the run (it has node); did you mean 'node'?", all[0]);
  Document lacks = run();
  lacks.rows.push_back(row("c", "bun", 100, 9));
  expect(Verdict::unmeasured, "bun has no such row", only("versus = 'bun'\nmax_ratio = 9", lacks));
}

TEST(NothingMissingPasses, a_run_that_was_cut_short) {
  Document now = run();
  now.complete = false;
  const GateDocument cut =
      gate("[[budget]]\nmax = '1 s'\n[[budget]]\nmetric = 'total'\nrow='a'\nmax = '1 ms'", now);
  EXPECT_EQ(cut.counts.pass, 0U);
  EXPECT_EQ(cut.counts.fail, 1U);
  EXPECT_EQ(cut.verdict, Verdict::fail);
  expect(Verdict::unmeasured, "the run is incomplete", cut.budgets[1]);
}

// ---- Counts, resources, outcomes, taxes

TEST(Gate, counts_are_exact) {
  expect(Verdict::pass, "", only("counter = 'syncFiles'\nmax = 3", run()));
  expect(Verdict::fail, "past the limit", only("counter = 'syncFiles'\nmax = 2", run()));
  expect(Verdict::pass, "", only("resource = 'pssBytes'\nmax = '100 MB'", run()));
  expect(Verdict::fail, "past", only("resource = 'pssBytes'\nmax = '99 MB'", run()));
  EXPECT_EQ(only("resource = 'pssBytes'\nmax = '99 MB'", run()).unit, "B");
}

TEST(Gate, an_outcome_that_did_not_happen_is_a_true_zero) {
  Document now = run();
  EXPECT_EQ(only("outcome = 'refused'\nmax = 0", now).measured, 0.0);
  expect(Verdict::pass, "", only("outcome = 'refused'\nmax = 0", now));
  now.rows[0].outcomes = {{"ok", 190}, {"failed", 7}, {"timeout", 3}};
  expect(Verdict::fail, "7 of 200 samples", only("outcome = 'failed'\nmax = 6", now));
  EXPECT_EQ(only("outcome = 'not_ok'\nmax = 6", now).measured, 10.0);
  now.rows[0].status = report::RowStatus::failed;
  now.rows[0].reason = "exit code 1";
  expect(Verdict::fail, "7 of 200 samples; failed: exit code 1", only("outcome = 'failed'\nmax = 6", now));
  expect(Verdict::unmeasured, "failed: exit code 1", only("outcome = 'failed'\nmax = 7", now));
}

TEST(Gate, memory_at_its_floor_is_an_upper_bound) {
  Document now = run();
  now.rows[0].resources.max_rss_bytes = 1 << 20;
  now.rows[0].resources.max_rss_floor_bytes = 2 << 20;
  expect(Verdict::pass, "no more than", only("resource = 'maxRssBytes'\nmax = '1 MB'", now));
  expect(Verdict::inconclusive, "no more than", only("resource = 'maxRssBytes'\nmax = '0.5 MB'", now));
  expect(Verdict::inconclusive, "no more than", only("resource = 'maxRssBytes'\nmin = '0.5 MB'", now));
}

TEST(Gate, bad_samples_beside_good_ones_are_told) {
  Document now = run();
  now.rows[0].outcomes = {{"ok", 200}, {"timeout", 2}};
  expect(Verdict::pass, "n=200/202: 2 of 202 samples failed: 2 timeout", only("max = '1 s'", now));
}

Document taxed(std::optional<double> ratio, std::optional<report::Interval> interval) {
  Document now = run();
  now.rows.push_back(row("a", "guest", 130, 9));
  now.targets.push_back({});
  now.targets.back().id = "guest";
  now.targets.front().kind = report::Lane::reference;
  report::Comparison tax;
  tax.row = "a";
  tax.metric = "total";
  tax.quantile = "p50";
  tax.subject = "guest";
  tax.reference = "node";
  tax.ratio = ratio;
  tax.interval = interval;
  if (!interval) tax.reason = "no interval (n<6)";
  now.comparisons.push_back(tax);
  return now;
}

TEST(Gate, a_tax_is_judged_by_its_interval) {
  const Document now = taxed(1.3, report::Interval{1.2, 1.4});
  // The wildcard means the subjects: the reference has no tax on itself.
  expect(Verdict::pass, "", only("tax = 'emulation'\nmax = 1.4", now));
  expect(Verdict::inconclusive, "within the interval", only("tax = 'emulation'\nmax = 1.3", now));
  expect(Verdict::fail, "whole interval", only("tax = 'emulation'\nmax = 1.1", now));
  expect(Verdict::inconclusive, "no interval (n<6)", only("tax = 'emulation'\nmax = 9", taxed(1.3, {})));
  expect(Verdict::unmeasured, "no interval (n<6)", only("tax = 'emulation'\nmax = 9", taxed({}, {})));
  Document failed = now;
  failed.rows[0].status = report::RowStatus::failed;
  failed.rows[0].reason = "wrong output";
  expect(Verdict::unmeasured, "node failed: wrong output", only("tax = 'emulation'\nmax = 9", failed));
}

TEST(Gate, the_worst_verdict_is_that_of_the_gate) {
  const GateDocument all = gate("[[budget]]\nmax = '1 s'\n[[budget]]\nrow = 'zz'\nmax = '1 s'", run());
  EXPECT_EQ(all.counts.pass, 3U);
  EXPECT_EQ(all.counts.unmeasured, 1U);
  EXPECT_EQ(all.verdict, Verdict::unmeasured);
}

TEST(Gate, a_baseline_that_no_budget_needs_is_noted) {
  const Document base = run();
  EXPECT_THAT(gate("[[budget]]\nmax = '1 s'", run(), &base).notes,
              testing::Contains("no budget is relative to the baseline"));
}

/// Runs of a gateway: latencies, a rate, sizes and a share.
Document gateway_runs(std::uint32_t runs, double median = 10) {
  measure::Random random(3);
  report::Row turns = made_row("turns", "embedded", made_metric({median, 0.02, 0, 0.002}, runs, 40, random));
  turns.bench = "gateway";
  turns.invariants.push_back({"completed", true, 40 * runs, 0, "ok", {}});
  report::Row server = made_row("server", "embedded", made_metric({0.5, 0.02, 0, 0}, runs, 1, random));
  server.bench = "gateway";
  server.metrics["cpu_per_turn"] = server.metrics.at("total");
  server.metrics["rss_peak"] = server.metrics.at("total");
  server.metrics["rss_peak"].unit = "bytes";
  for (auto& sample : server.metrics["rss_peak"].samples) *sample *= 20 << 20;
  server.metrics["core_ratio"] = server.metrics.at("total");
  server.metrics["core_ratio"].unit = "ratio";
  server.metrics["turns_per_s"] = server.metrics.at("total");
  server.metrics["turns_per_s"].unit = "turns/s";
  server.metrics["turns_per_s"].better = report::Better::higher;
  server.invariants.push_back({"completed", true, runs, 0, "ok", {}});
  for (auto& [name, metric] : server.metrics) summarise(metric);
  return made_document({turns, server});
}

TEST(Gate, holds_a_gateway_to_latencies_rates_sizes_and_shares) {
  const Document now = gateway_runs(8);
  const auto one = [&](const std::string& fields) { return results(fields, now).at(0); };
  expect(Verdict::pass, "", one("row = 'turns'\nquantile = 'p95'\nmax = '20 ms'"));
  expect(Verdict::pass, "", one("row = 'server'\nmetric = 'cpu_per_turn'\nmax = '1 ms'"));
  expect(Verdict::fail, "past", one("row = 'server'\nmetric = 'rss_peak'\nmax = '5 MB'"));
  expect(Verdict::fail, "past", one("row = 'server'\nmetric = 'turns_per_s'\nmin = 1"));
  expect(Verdict::pass, "", one("row = 'server'\nmetric = 'core_ratio'\nmax = 0.9"));
}

TEST(Gate, names_the_option_that_gives_a_gateway_more_runs) {
  const auto one = [](const std::string& fields, std::uint32_t runs) {
    return results("row = 'turns'\n" + fields, gateway_runs(runs)).at(0);
  };
  const auto middle = *gateway_runs(8).rows.at(0).metrics.at("total").summary.p50;
  expect(Verdict::inconclusive, "more processes (--runs) make it narrower",
         one(fmt::format("max = '{} ms'", middle), 8));
  const Document base = gateway_runs(2);
  const Document now = gateway_runs(2, 20);
  expect(Verdict::inconclusive, "needs 4 processes a side (--runs), has 2 and 2",
         results(std::string("row = 'turns'\n") + to_baseline, now, &base).at(0));
}

TEST(Gate, judges_by_a_histogram_and_says_what_it_does_not_tell) {
  Document now = gateway_runs(8);
  const Document base = now;
  report::Metric& metric = now.rows.at(0).metrics.at("total");
  measure::Histogram histogram;
  histogram.record(std::chrono::milliseconds(50), 5000);
  metric.histogram = histogram.data();
  metric.summary = measure::summarise(histogram, 1e6, metric.samples.size());
  now.rows.at(0).outcomes["ok"] = 5000;
  now.rows.at(0).invariants.at(0).checked = 5000;
  const auto one = [&](const std::string& fields) {
    return results("row = 'turns'\n" + fields, now, &base).at(0);
  };
  expect(Verdict::pass, "not all samples were kept", one("quantile = 'p99'\nmax = '60 ms'"));
  expect(Verdict::fail, "past the limit; not all samples were kept", one("max = '20 ms'"));
  const BudgetResult relative = one(to_baseline);
  expect(Verdict::inconclusive, "more samples were taken than are kept", relative);
  EXPECT_NEAR(relative.measured.value(), 5, 0.5);
}

}  // namespace
}  // namespace tare::gate
