#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/gate/gate_for_tests.hpp"
#include "lab/verdict/samples.hpp"

/// Budgets relative to a baseline, or to another target of the run.
namespace tare::gate {
namespace {

using verdict::made_document;
using verdict::made_metric;
using verdict::made_row;
using verdict::summarise;

using report::Document;
using report::Verdict;
using testing::HasSubstr;

report::Row row(const std::string& target, double median, std::uint64_t seed, std::uint32_t processes) {
  measure::Random random(seed);
  report::Row made = made_row("a", target, made_metric({median, 0.02, 0, 0.002}, processes, 25, random));
  made.invariants.push_back({"exit_code", true, processes * 25, 0, "code 0", {}});
  return made;
}

Document one_row(double median, std::uint64_t seed, std::uint32_t processes = 10) {
  return made_document({row("node", median, seed, processes)});
}

BudgetResult against(const Document& base, const Document& now, const std::string& limit,
                     const GateOptions& options = {}) {
  return gate("[[budget]]\nversus = 'baseline'\n" + limit, now, &base, options).budgets.at(1);
}

/// This machine's lanes, as a calibration found them: `spread` between equal ones.
GateOptions calibrated(double spread) {
  report::Calibration entry;
  entry.target = "node";
  entry.row = "a";
  entry.metric = "total";
  entry.quantile = "p50";
  entry.unit = "ms";
  entry.iterations = 25;
  for (int i = 0; i < 20; ++i) {
    entry.first.push_back(100);
    entry.second.push_back(100 * (1 + (i % 2 == 0 ? spread : -spread)));
  }
  GateOptions options;
  options.calibrations = {entry};
  return options;
}

TEST(RelativeBudget, finds_a_change_past_the_limit_and_says_how_large_it_is) {
  const BudgetResult slower = against(one_row(100, 1), one_row(120, 2), "max_increase = '5 %'");
  expect(Verdict::fail, "the whole interval is past the limit", slower);
  EXPECT_THAT(*slower.reason, testing::MatchesRegex("\\+[0-9.]+ % \\(p50 of all samples: [0-9.]+ ms, then "
                                                    "[0-9.]+ ms\\); the whole interval is past the limit"));
  EXPECT_NEAR(*slower.measured, 1.2, 0.02);
  EXPECT_LE(*slower.p_adjusted, 0.05);
  expect(Verdict::pass, "", against(one_row(100, 1), one_row(120, 2), "max_increase = '30 %'"));
  expect(Verdict::pass, "", against(one_row(100, 1), one_row(100, 2), "max_increase = '5 %'"));
  expect(Verdict::pass, "", against(one_row(100, 1), one_row(50, 2), "max_ratio = 0.6"));
  expect(Verdict::fail, "", against(one_row(100, 1), one_row(50, 2), "max_ratio = 0.4"));
  expect(Verdict::fail, "−", against(one_row(100, 1), one_row(50, 2), "max_decrease = '30 %'"));
  expect(Verdict::pass, "", against(one_row(100, 1), one_row(50, 2), "min_ratio = 0.4"));
}

TEST(RelativeBudget, a_change_at_the_limit_is_inconclusive) {
  expect(Verdict::inconclusive, "the limit lies within the interval",
         against(one_row(100, 1), one_row(105, 2), "max_increase = '5 %'"));
}

TEST(RelativeBudget, too_few_processes_are_inconclusive_with_the_change_shown) {
  const BudgetResult result = against(one_row(100, 1, 2), one_row(200, 2, 2), "max_increase = '5 %'");
  expect(Verdict::inconclusive, "needs 4 processes a side", result);
  EXPECT_NEAR(*result.measured, 2, 0.1);
  EXPECT_FALSE(result.interval);
}

TEST(RelativeBudget, one_tighter_than_the_machine_can_see_is_inconclusive) {
  const Document base = one_row(100, 1);
  const BudgetResult same = against(base, base, "max_increase = '1 %'", calibrated(0.1));
  expect(Verdict::inconclusive, "by which equal lanes differ here", same);
  EXPECT_GT(*same.minimum_detectable, 0.01);
  expect(Verdict::inconclusive, "past the limit, but that is tighter",
         against(base, one_row(103, 2), "max_increase = '1 %'", calibrated(0.1)));
  expect(Verdict::fail, "", against(base, one_row(150, 2), "max_increase = '1 %'", calibrated(0.1)));
  // Faster by more than equal lanes ever are: surely no increase.
  expect(Verdict::pass, "", against(base, one_row(50, 2), "max_increase = '1 %'", calibrated(0.1)));
  expect(Verdict::pass, "", against(base, base, "max_increase = '30 %'", calibrated(0.1)));
}

TEST(RelativeBudget, without_a_calibration_a_note_says_what_one_would_tell) {
  const Document base = one_row(100, 1);
  const std::string budgets = "[[budget]]\nversus = 'baseline'\nmax_increase = '5 %'";
  Document now = one_row(100, 2);
  now.started_at = "2026-02-01T12:00:00Z";
  EXPECT_THAT(gate(budgets, now, &base).notes, testing::ElementsAre(HasSubstr("`tare calibrate`")));
  EXPECT_THAT(gate(budgets, now, &base, calibrated(0.01)).notes, testing::IsEmpty());
  // Nor does a busy machine make it one that is calibrated.
  now.host.load = {3.0, 2.0, 1.0};
  EXPECT_THAT(gate(budgets, now, &base).notes, testing::ElementsAre(HasSubstr("`tare calibrate`")));
}

TEST(RelativeBudget, a_run_against_itself_is_noted) {
  const Document base = one_row(100, 1);
  EXPECT_THAT(gate("[[budget]]\nversus = 'baseline'\nmax_increase = '5 %'", base, &base).notes,
              testing::Contains(HasSubstr("one and the same run")));
}

TEST(RelativeBudget, another_machine_is_inconclusive_unless_it_is_meant) {
  const Document base = one_row(100, 1);
  Document now = one_row(200, 2);
  now.host.cpu = "Another CPU";
  expect(Verdict::inconclusive, "of different machines", against(base, now, "max_increase = '5 %'"));
  GateOptions across;
  across.machines = Machines::may_differ;
  expect(Verdict::fail, "", against(base, now, "max_increase = '5 %'", across));
}

TEST(RelativeBudget, units_are_brought_together_or_refused) {
  const Document base = one_row(100, 1);
  Document seconds = one_row(0.1, 2);
  seconds.rows[0].metrics.at("total").unit = "s";
  expect(Verdict::pass, "", against(base, seconds, "max_increase = '5 %'"));
  seconds.rows[0].metrics.at("total").unit = "MB";
  expect(Verdict::unmeasured, "the baseline is in ms, the run in MB",
         against(base, seconds, "max_increase = '5 %'"));
}

/// Two processors, three tasks: half of the time of an operation can be waiting.
Document busy(Document document) {
  document.host.load = {3.0, 2.0, 1.0};
  document.host.psi.before.emplace().cpu = measure::Pressure{50, 0, {}, {}};
  return document;
}

TEST(RelativeBudget, what_sharing_the_processors_explains_is_inconclusive) {
  const Document base = one_row(100, 1);
  const BudgetResult shared = against(base, busy(one_row(130, 2)), "max_increase = '5 %'");
  expect(Verdict::inconclusive, "50.0 % that sharing the processors with other work explains", shared);
  EXPECT_EQ(shared.minimum_detectable, 0.5);
  expect(Verdict::fail, "", against(base, one_row(130, 2), "max_increase = '5 %'"));
  expect(Verdict::fail, "", against(base, busy(one_row(190, 2)), "max_increase = '5 %'"));
  expect(Verdict::pass, "", against(base, busy(one_row(100, 2)), "max_increase = '60 %'"));
  // The larger of the two counts, whichever it is.
  const BudgetResult apart = against(base, busy(one_row(130, 2)), "max_increase = '5 %'", calibrated(0.9));
  expect(Verdict::inconclusive, "by which equal lanes differ here", apart);
  EXPECT_GT(apart.minimum_detectable.value(), 0.5);
}

TEST(RelativeBudget, lanes_of_one_run_suffer_alike_from_a_busy_machine) {
  const Document now = busy(made_document({row("node", 100, 1, 1), row("bun", 130, 2, 1)}));
  const BudgetResult lanes = gate("[[budget]]\nversus = 'node'\nmax_ratio = 1.1", now, nullptr).budgets.at(1);
  expect(Verdict::fail, "(p50 of all samples: node ", lanes);
  EXPECT_FALSE(lanes.minimum_detectable);
}

/// A change that every process and every round shows, of so many budgets.
BudgetResult first_of(std::size_t budgets, std::uint32_t processes, bool lanes) {
  std::vector<report::Row> before;
  std::vector<report::Row> after;
  for (std::size_t i = 0; i < budgets; ++i) {
    before.push_back(row("node", 100, 2 * i + 1, processes));
    after.push_back(row(lanes ? "bun" : "node", 200, 2 * i + 2, processes));
    before.back().row = after.back().row = "row_" + std::to_string(i);
  }
  if (!lanes) {
    const Document base = made_document(before);
    return against(base, made_document(after), "max_increase = '5 %'");
  }
  before.insert(before.end(), after.begin(), after.end());
  return gate("[[budget]]\nversus = 'node'\nmax_ratio = 1.1", made_document(before), nullptr).budgets.at(1);
}

TEST(RelativeBudget, what_holm_takes_away_says_how_many_processes_bring_it_back) {
  // 2 of 70 orders, over 3 figures, is 0.086; of 252 orders it is 0.024.
  expect(Verdict::inconclusive,
         "after Holm's correction over 3 figures; it takes 5 processes (--processes 5)",
         first_of(3, 4, false));
  expect(Verdict::fail, "", first_of(3, 5, false));
  // Paired by processes: 2 of 2^6, over 3 figures, is 0.094; of 2^7 it is 0.047.
  expect(Verdict::inconclusive, "over 3 figures; it takes 7 processes (--processes 7)", first_of(3, 6, true));
  expect(Verdict::fail, "", first_of(3, 7, true));
  // Below 6 processes lanes are compared round by round.
  expect(Verdict::fail, "", first_of(3, 1, true));
}

TEST(RelativeBudget, a_limit_within_the_interval_needs_more_of_what_was_compared) {
  expect(Verdict::inconclusive, "more processes (--processes) narrow it",
         against(one_row(100, 1), one_row(105, 2), "max_increase = '5 %'"));
  const auto versus_node = [&](std::uint32_t processes) {
    const Document now = made_document({row("node", 100, 1, processes), row("bun", 130, 2, processes)});
    return gate("[[budget]]\nversus = 'node'\nmax_ratio = 1.3", now, nullptr).budgets.at(1);
  };
  expect(Verdict::inconclusive, "more rounds (--iterations) narrow it", versus_node(1));
  expect(Verdict::inconclusive, "more processes (--processes) narrow it", versus_node(8));
}

Document constant(double value) {
  Document document = one_row(100, 1);
  report::Metric& metric = document.rows[0].metrics.at("total");
  for (auto& sample : metric.samples) sample = value;
  summarise(metric);
  return document;
}

TEST(RelativeBudget, a_baseline_of_zero_still_gates) {
  expect(Verdict::pass, "so is the new figure", against(constant(0), constant(0), "max_increase = '5 %'"));
  expect(Verdict::fail, "the baseline is 0, now 7",
         against(constant(0), constant(7), "max_increase = '5 %'"));
  expect(Verdict::pass, "the baseline is 0", against(constant(0), constant(7), "min_ratio = 0.9"));
  EXPECT_NE(against(constant(7), constant(0), "max_decrease = '5 %'").verdict, Verdict::pass);
}

TEST(RelativeBudget, constant_samples_are_legal) {
  expect(Verdict::pass, "", against(constant(7), constant(7), "max_increase = '5 %'"));
  expect(Verdict::fail, "", against(constant(7), constant(8), "max_increase = '5 %'"));
}

/// p values are corrected for all relative budgets of the gate, so the same change convinces less among many.
TEST(RelativeBudget, many_budgets_are_one_family) {
  Document base = one_row(100, 1);
  Document now = one_row(120, 2);
  const auto p_of_first = [&] {
    return gate("[[budget]]\nversus = 'baseline'\nmax_increase = '5 %'", now, &base).budgets.at(1);
  };
  const double alone = *p_of_first().p_adjusted;
  for (int i = 0; i < 30; ++i) {
    const std::uint64_t seed = 100 + static_cast<std::uint64_t>(i);
    for (Document* document : {&base, &now}) {
      document->rows.push_back(row("node", 100, document == &base ? seed : seed + 500, 4));
      document->rows.back().row = "more_" + std::to_string(i);
    }
  }
  EXPECT_NEAR(*p_of_first().p_adjusted, std::min(1.0, alone * 31), 1e-9);
}

TEST(RelativeBudget, lanes_of_one_run_are_compared_round_by_round) {
  const Document now = made_document({row("node", 100, 1, 1), row("bun", 130, 2, 1)});
  const auto versus_node = [&](const std::string& limit) {
    const GateDocument all = gate("[[budget]]\nversus = 'node'\n" + limit, now, nullptr);
    EXPECT_EQ(all.budgets.size(), 2U);  // not node against itself
    return all.budgets.at(1);
  };
  EXPECT_EQ(versus_node("max_ratio = 2").target, "bun");
  expect(Verdict::pass, "", versus_node("max_ratio = 2"));
  expect(Verdict::fail, "", versus_node("max_ratio = 1.1"));
}

TEST(RelativeBudget, phases_that_mean_something_else_are_not_compared) {
  Document now = made_document({row("node", 100, 1, 1), row("bun", 130, 2, 1)});
  for (report::Row& one : now.rows) one.metrics["spawn"] = one.metrics.at("total");
  now.targets[1].asynchronous_spawn = true;
  expect(Verdict::unmeasured, "the spawn of bun returns before the work is done",
         gate("[[budget]]\nversus = 'node'\nmetric = 'spawn'\nmax_ratio = 2", now, nullptr).budgets.at(1));
}

}  // namespace
}  // namespace tare::gate
