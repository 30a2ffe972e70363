#pragma once

#include "lab/gate/gate.hpp"

/// A hand-made gate for golden files, with every verdict, every kind of figure and foreign text in names.
namespace tare::gate {

inline BudgetResult example_result(const std::string& id, FigureKind kind, const std::string& row,
                                   const std::string& target, const std::string& metric) {
  BudgetResult result;
  result.id = id;
  result.kind = kind;
  result.row = row;
  result.target = target;
  result.metric = metric;
  return result;
}

inline BudgetResult judged_as(BudgetResult result, report::Verdict verdict, const std::string& reason) {
  result.verdict = verdict;
  if (!reason.empty()) result.reason = reason;
  return result;
}

inline std::vector<BudgetResult> example_results() {
  using report::Verdict;
  std::vector<BudgetResult> all;
  const auto add = [&](BudgetResult result, Verdict verdict, const std::string& reason) {
    all.push_back(judged_as(std::move(result), verdict, reason));
  };

  BudgetResult invariants = example_result("invariants", FigureKind::invariants, "*", "*", "broken");
  invariants.limit = "0 broken";
  invariants.max = 0;
  invariants.measured = 0;
  add(invariants, Verdict::pass, "");

  BudgetResult slow = example_result("spawn-p50", FigureKind::quantile, "node_exit_1", "agentos", "total");
  slow.quantile = "p50";
  slow.limit = "≤ 40 ms";
  slow.unit = "ms";
  slow.max = 40;
  slow.measured = 43.2;
  slow.interval = report::Interval{42.8, 43.9};
  add(slow, Verdict::fail, "the whole interval is past the limit");

  BudgetResult near = slow;
  near.target = "node";
  near.measured = 40.1;
  near.interval = report::Interval{39.7, 40.4};
  add(near, Verdict::inconclusive,
      "the limit lies within the interval (n=200); more samples (--iterations) make it narrower");

  BudgetResult lost = slow;
  lost.row = "nested_8";
  lost.measured.reset();
  lost.interval.reset();
  add(lost, Verdict::unmeasured, "failed: every_child: expected 8, got 7 (1 of 200 times)");

  BudgetResult relative =
      example_result("fan-out vs main", FigureKind::relative, "fanout_8", "node", "total");
  relative.quantile = "p50";
  relative.versus = "baseline";
  relative.limit = "≤ 1.05× baseline";
  relative.unit = "×";
  relative.max = 1.05;
  relative.measured = 1.2;
  relative.interval = report::Interval{1.18, 1.22};
  relative.base = 100;
  relative.now = 120;
  relative.base_unit = "ms";
  relative.p_adjusted = 0.0004;
  relative.minimum_detectable = 0.021;
  add(relative, Verdict::fail,
      "+20 % (p50 of all samples: 100 ms, then 120 ms); the whole interval is past the limit");

  BudgetResult tax = example_result("emulation tax", FigureKind::tax, "node_exit_1", "agentos", "total");
  tax.quantile = "p50";
  tax.versus = "node";
  tax.limit = "≤ 1.5×";
  tax.unit = "×";
  tax.max = 1.5;
  tax.measured = 1.08;
  tax.interval = report::Interval{1.07, 1.1};
  add(tax, Verdict::pass, "n=198/200: 2 of 200 samples failed: timeout");

  BudgetResult foreign =
      example_result("a|b, <c>: 100 %\n", FigureKind::counter, "r\x1b[1m", "t\xff", "sync&Files");
  foreign.limit = "≤ 0";
  foreign.max = 0;
  foreign.measured = 1234;
  add(foreign, Verdict::fail, "past the limit: \"50 %\"");

  BudgetResult memory = example_result("memory", FigureKind::resource, "fanout_8", "agentos", "pssBytes");
  memory.limit = "≤ 200 MB";
  memory.unit = "B";
  memory.max = 209715200;
  memory.measured = 168820736;
  add(memory, Verdict::pass, "");
  return all;
}

inline GateDocument example_gate() {
  GateDocument gate;
  gate.verdict = report::Verdict::fail;
  gate.counts = {3, 3, 1, 1};
  gate.run = {"out/run.json",   {}, "2026-01-31T12:00:00.000Z", true, "tare 0.1.0 (abc123, Release)",
              "2 × Example CPU"};
  gate.baseline = gate.run;
  gate.baseline->source = "main.json";
  gate.baseline->started_at = "2026-01-31T11:00:00.000Z";
  gate.notes = {"1 unavailable row was left out (unavailable = \"skip\")"};
  gate.budgets = example_results();
  return gate;
}

}  // namespace tare::gate
