#include "lab/bench/gateway/budgets.hpp"

#include <gtest/gtest.h>

#include "lab/report/metric.hpp"

namespace tare::gateway_bench {
namespace {

report::Row row(std::string name, std::vector<double> samples) {
  report::Row made;
  made.bench = "gateway";
  made.row = std::move(name);
  made.target = "embedded";
  report::Metric& metric = made.metrics["total"];
  metric.unit = "ms";
  for (const double value : samples) {
    metric.samples.push_back(value);
    metric.outcome.push_back(report::Outcome::ok);
    metric.error.push_back(std::nullopt);
  }
  metric.summary = report::summary_of(metric);
  return made;
}

Options options(std::optional<std::uint64_t> control, std::optional<std::uint64_t> handshake) {
  Options made;
  made.targets = {"embedded"};
  made.max_control_ms = control;
  made.max_handshake_ms = handshake;
  return made;
}

report::Document document() {
  report::Document made;
  made.rows = {row("readyz", {1, 50}), row("control_ui", {1, 2}), row("sessions_list", {3}),
               row("fresh_connection", {40})};
  return made;
}

TEST(GatewayBudgets, ThereAreNoneUnlessAskedFor) {
  EXPECT_TRUE(judge_budgets(document(), options({}, {})).empty());
}

TEST(GatewayBudgets, ASampleBeyondTheLimitViolates) {
  const auto budgets = judge_budgets(document(), options(50, {}));
  ASSERT_EQ(budgets.size(), 3U);
  for (const report::Budget& budget : budgets) EXPECT_EQ(budget.verdict, report::Verdict::pass) << budget.id;
  const auto strict = judge_budgets(document(), options(49, {}));
  EXPECT_EQ(strict[0].id, "readyz.embedded");
  EXPECT_EQ(strict[0].verdict, report::Verdict::fail);
  EXPECT_EQ(strict[0].reason, "Gateway readyz probe exceeded 49ms: ok=true latencyMs=50.0 error=none");
  EXPECT_EQ(strict[1].verdict, report::Verdict::pass);
}

TEST(GatewayBudgets, AFailedProbeViolatesHoweverFastItWas) {
  report::Document made = document();
  made.rows[2].metrics["total"].outcome[0] = report::Outcome::failed;
  made.rows[2].metrics["total"].error[0] = "no";
  const auto budgets = judge_budgets(made, options(1'000, {}));
  EXPECT_EQ(budgets[2].verdict, report::Verdict::fail);
  EXPECT_EQ(budgets[2].reason,
            "Gateway sessions.list probe exceeded 1000ms: ok=false latencyMs=3.0 error=no");
}

TEST(GatewayBudgets, AStartThatWasLeftOutViolates) {
  report::Document made = document();
  made.rows[0].counters["unsent"] = 2;
  EXPECT_EQ(judge_budgets(made, options(50, {}))[0].verdict, report::Verdict::fail);
}

TEST(GatewayBudgets, WhatIsBeyondTheSamplesThatAreKeptCounts) {
  report::Document made = document();
  made.rows[0].outcomes = {{"ok", 4'000}, {"failed", 1}};
  made.rows[1].metrics["total"].summary.max = 60;
  const auto budgets = judge_budgets(made, options(50, {}));
  EXPECT_EQ(budgets[0].verdict, report::Verdict::fail);
  EXPECT_EQ(budgets[0].reason, "1 that are beyond the samples kept did not end well");
  EXPECT_EQ(budgets[1].verdict, report::Verdict::fail);
  EXPECT_EQ(budgets[1].reason, "the longest took 60.0 ms");
  EXPECT_EQ(budgets[2].verdict, report::Verdict::pass);
}

TEST(GatewayBudgets, WithoutASampleItIsUnmeasured) {
  report::Document made = document();
  made.rows.erase(made.rows.begin());
  const auto budgets = judge_budgets(made, options(50, 30));
  EXPECT_EQ(budgets[0].verdict, report::Verdict::unmeasured);
  EXPECT_EQ(budgets[0].reason, "no sample was taken");
  EXPECT_EQ(budgets.back().id, "fresh_connection.embedded");
  EXPECT_EQ(budgets.back().verdict, report::Verdict::fail);
}

TEST(GatewayBudgets, AProbeThatTheRunDoesNotHaveHasNone) {
  for (const report::Budget& budget : judge_budgets(document(), options(50, {})))
    EXPECT_EQ(budget.id.find("chat_history"), std::string::npos);
}

}  // namespace
}  // namespace tare::gateway_bench
