#include "lab/verdict/example_comparison.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"

namespace tare::verdict {
namespace {

constexpr const char* by_medians = "medians of processes: exact Mann-Whitney, Hodges-Lehmann shift";
constexpr const char* by_labels =
    "quantiles of processes: Hodges-Lehmann shift, p by relabelling whole processes";
constexpr const char* by_pairs = "median of paired log-ratios, sign-test interval";

struct Figures {
  double base = 0;
  double ratio = 1;
  double half_width = 0.01;  ///< of the interval of the ratio
  double p = 1;
};

Entry entry(const char* row, const char* target, const char* metric, const char* quantile) {
  Entry e;
  e.row = row;
  e.target = e.new_target = target;
  e.metric = metric;
  e.quantile = quantile;
  e.unit = "ms";
  return e;
}

Entry measured(Entry e, const Figures& figures, Change change) {
  e.base = figures.base;
  e.now = figures.base * figures.ratio;
  e.base_n = e.now_n = 200;
  e.base_processes = e.now_processes = e.pairs = 10;
  e.ratio = figures.ratio;
  e.interval = {figures.ratio - figures.half_width, figures.ratio + figures.half_width};
  e.difference = *e.now - *e.base;
  e.difference_interval = {*e.difference - figures.half_width * figures.base,
                           *e.difference + figures.half_width * figures.base};
  e.effect_size = figures.ratio > 1 ? 0.71 : -0.71;
  e.p = figures.p / 4;
  e.p_adjusted = figures.p;
  e.minimum_detectable = 0.021;
  e.method = e.quantile == "p50" ? by_medians : by_labels;
  e.change = change;
  e.verdict = change == Change::worse     ? report::Verdict::fail
              : change == Change::unclear ? report::Verdict::inconclusive
                                          : report::Verdict::pass;
  return e;
}

Entry because(Entry e, const char* reason) {
  e.reason = reason;
  return e;
}

Side side(const char* source, const char* started) {
  return {source,
          {},
          started,
          true,
          "tare 0.1.0 (0123456789ab, Release)",
          "2 × AMD EPYC 7B13 · Linux 6.1.0-18-amd64 · governor unavailable · load 0.40 · noise: quiet"};
}

std::vector<Entry> main_entries() {
  std::vector<Entry> all;
  all.push_back(
      measured(entry("node_exit_1", "node", "total", "p50"), {27.9, 1.082, 0.011, 0.0004}, Change::worse));
  all.push_back(measured(entry("node_exit_1", "node", "spawn", "p50"), {0.838, 1.01, 0.02, 1}, Change::same));
  all.push_back(
      measured(entry("node_exit_1", "node", "total", "p95"), {31.0, 1.14, 0.05, 0.012}, Change::worse));
  all.push_back(because(
      measured(entry("node_exit_1", "node", "spawn", "p95"), {1.31, 1.04, 0.12, 0.8}, Change::unclear),
      "the interval holds changes within and beyond the tolerance"));
  all.push_back(measured(entry("node_exit_1", "agentos", "total", "p50"), {30.9, 0.912, 0.014, 0.0021},
                         Change::better));
  all.push_back(measured(entry("fanout_8", "node", "total", "p50"), {104, 1.003, 0.016, 1}, Change::same));
  Entry few =
      because(measured(entry("fanout_8", "agentos", "total", "p50"), {223, 1.06, 0.01, 1}, Change::unclear),
              "needs 4 processes a side (--processes), has 10 and 3");
  few.now_processes = few.pairs = 3;
  few.now_n = 59;
  few.interval.reset();
  few.difference_interval.reset();
  few.p.reset();
  few.p_adjusted.reset();
  few.method = "quantile ÷ quantile of all samples";
  all.push_back(few);
  Entry zero = because(measured(entry("live_guests", "agentos", "leaked", "p50"), {}, Change::worse),
                       "by the difference: there is no ratio to a base of 0");
  zero.unit = "count";
  zero.ratio.reset();
  zero.interval.reset();
  zero.now = 2;
  zero.difference = 2;
  zero.difference_interval = {1.0, 3.0};
  zero.effect_size = 1;
  zero.p_adjusted = 0.0004;
  all.push_back(zero);
  Entry missing = because(entry("nested_8", "agentos", "total", "p50"), "every sample failed: exit code 1");
  missing.base = 205;
  missing.base_n = 200;
  missing.base_processes = 10;
  all.push_back(missing);
  return all;
}

}  // namespace

ComparisonDocument example_comparison() {
  ComparisonDocument document;
  document.base = side("out/base.json", "2026-01-31T12:00:00.000Z");
  Comparison comparison;
  comparison.now = side("out/new.json", "2026-02-01T09:30:00.000Z");
  comparison.same_machine = true;
  comparison.differences = {{"kernel", "6.1.0-17-amd64", "6.1.0-18-amd64"},
                            {"target agentos version", "0.2.21", "0.2.22"},
                            {"option iterations", "20", "40"}};
  comparison.missing = {"nested_8 on agentos (every sample failed: exit code 1)"};
  comparison.extra = {"cold_start on agentos", "memory on agentos"};
  comparison.entries = main_entries();
  document.comparisons.push_back(std::move(comparison));
  return document;
}

ComparisonDocument example_of_lanes() {
  ComparisonDocument document;
  document.base = side("run.json@node", "2026-01-31T12:00:00.000Z");
  document.base.target = "node";
  Comparison comparison;
  comparison.now = side("run.json@bun", "2026-01-31T12:00:00.000Z");
  comparison.now.target = "bun";
  comparison.paired = true;
  comparison.same_machine = true;
  for (const char* row : {"node_exit_1", "fanout_8"}) {
    Entry e = measured(entry(row, "node", "total", "p50"), {27.9, 0.412, 0.01, 0.0001}, Change::better);
    e.new_target = "bun";
    e.base_n = e.now_n = e.pairs = 30;
    e.base_processes = e.now_processes = 1;
    e.method = by_pairs;
    e.minimum_detectable.reset();
    comparison.entries.push_back(e);
  }
  document.comparisons.push_back(std::move(comparison));
  return document;
}

ComparisonDocument example_of_two() {
  ComparisonDocument document = example_comparison();
  Comparison other = document.comparisons.front();
  other.now = side("out/laptop.json", "2026-02-02T10:00:00.000Z");
  other.now.complete = false;
  other.same_machine = false;
  other.differences = {{"CPU", "AMD EPYC 7B13", "Apple M2"}};
  other.missing.clear();
  other.extra.clear();
  other.entries.resize(1);
  other.entries[0].change = Change::unclear;
  other.entries[0].verdict = report::Verdict::inconclusive;
  other.entries[0].reason = "measured on different machines";
  document.comparisons.push_back(std::move(other));
  return document;
}

}  // namespace tare::verdict
