#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/report/example_document.hpp"
#include "lab/report/import_guidance.hpp"
#include "lab/report/import_hotspots.hpp"
#include "lab/report/import_lines.hpp"

namespace tare::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// What a lane's p50 is, in ms; the samples are 90 %, 100 % and 110 % of it.
struct Made {
  const char* scenario;
  double context;
  double startup;
  double imports;
  double completion;
};

const std::vector<Made> on_guest = {{"isolate-startup", 1, 2, 0, 1},
                                    {"cold-local-import", 1, 2, 8, 1},
                                    {"warm-local-import", 1, 2, 2, 1},
                                    {"prewarmed-local-import", 0.5, 0.5, 2, 1},
                                    {"builtin-import", 1, 2, 1, 1}};
const std::vector<Made> on_node = {{"isolate-startup", 0, 40, 0, 0},
                                   {"cold-local-import", 0, 40, 10, 0},
                                   {"warm-local-import", 0, 40, 5, 0},
                                   {"builtin-import", 0, 40, 2, 0},
                                   {"large-package-import", 0, 40, 200, 0}};

Metric made_import_metric(double centre, const std::string& unit = "ms") {
  Metric metric;
  metric.unit = unit;
  std::vector<double> samples;
  for (std::uint32_t i = 0; i < 3; ++i) {
    samples.push_back(centre * (0.9 + 0.1 * i));
    metric.samples.emplace_back(samples.back());
    metric.round.push_back(i);
    metric.process.push_back(0);
    metric.at_ms.push_back(i);
    metric.outcome.push_back(Outcome::ok);
    metric.error.emplace_back();
  }
  metric.warmup = {centre};
  metric.summary = measure::summarise(samples);
  return metric;
}

Row import_row(const std::string& name, const std::string& target) {
  Row row;
  row.bench = "import";
  row.row = name;
  row.target = target;
  row.outcomes["ok"] = 3;
  row.invariants.push_back({"marker", true, 4, 0, "a marker with import_ms", {}});
  return row;
}

Row made_row(const Made& made, const std::string& target) {
  Row row = import_row(made.scenario, target);
  const bool phases = target == "guest";
  row.metrics["total"] = made_import_metric(made.context + made.startup + made.imports + made.completion);
  row.metrics["startup"] = made_import_metric(made.startup);
  if (phases) {
    row.metrics["context_setup"] = made_import_metric(made.context);
    row.metrics["completion"] = made_import_metric(made.completion);
  }
  if (made.imports > 0) {
    row.metrics["guest_execution"] = made_import_metric(made.imports);
    row.metrics["startup_overhead"] = made_import_metric(made.context + made.startup + made.completion);
  }
  row.metrics["rss"] = made_import_metric((made.imports + 30) * 1024 * 1024, "bytes");
  if (phases) row.metrics["heap_used"] = made_import_metric(8.0 * 1024 * 1024, "bytes");
  row.metrics["cpu_total"] = made_import_metric(made.imports + 2);
  return row;
}

Row made_round_trip(std::uint64_t bytes, const std::string& target, double ms) {
  Row row = import_row("transport_" + std::to_string(bytes), target);
  row.size = bytes;
  row.metrics["total"] = made_import_metric(ms);
  return row;
}

void compare_with_node(Document& document, const Row& row) {
  const Row* node = find_row(document, row.row, "node");
  if (node == nullptr || node->metrics.empty() || row.target == "node") return;
  Comparison c;
  c.row = row.row;
  c.metric = "total";
  c.quantile = "p50";
  c.subject = row.target;
  c.reference = "node";
  c.unit = "ms";
  c.method = "p50 ÷ p50, bootstrap";
  c.ratio = *row.metrics.at("total").summary.p50 / *node->metrics.at("total").summary.p50;
  c.interval = Interval{*c.ratio * 0.9, *c.ratio * 1.1};
  document.comparisons.push_back(c);
}

std::vector<ImportLine> guest_lines(const Document& document) {
  return lines_of(import_lines(document), "guest");
}

TEST(ImportLines, are_in_the_order_of_the_scenarios_and_of_the_targets_in_each) {
  const Document document = example_import_run();
  const std::vector<ImportLine> lines = import_lines(document);
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines[0].scenario.id, "isolate-startup");
  EXPECT_EQ(lines[0].target, "node");
  EXPECT_EQ(lines[0].scenario.workload, "startup-floor");
  EXPECT_EQ(lines[1].target, "guest");
  EXPECT_EQ(lines.back().scenario.id, "large-package-import");
  EXPECT_EQ(transport_lines(document).size(), 4U);
}

TEST(ImportLines, without_options_rows_are_known_by_their_names) {
  Document document = example_import_run();
  document.config = nullptr;
  const std::vector<ImportLine> lines = import_lines(document);
  EXPECT_EQ(lines.size(), 10U);
  EXPECT_TRUE(lines[0].scenario.workload.empty());
}

TEST(Hotspots, are_thirteen_rankings_with_the_largest_first) {
  const Document document = example_import_run();
  const auto rankings = hotspot_rankings(guest_lines(document));
  std::vector<std::string> metrics;
  for (const HotspotRanking& ranking : rankings) metrics.push_back(ranking.metric);
  EXPECT_THAT(metrics,
              ElementsAre("wall_mean_ms", "wall_stddev_ms", "wall_range_ms", "guest_import_mean_ms",
                          "startup_overhead_mean_ms", "context_setup_mean_ms", "startup_phase_mean_ms",
                          "guest_execution_mean_ms", "completion_mean_ms", "startup_share_pct",
                          "rss_mean_mib", "heap_mean_mib", "cpu_total_mean_ms"));
  const HotspotRanking& wall = rankings[0];
  ASSERT_EQ(wall.ranked.size(), 5U);
  EXPECT_EQ(wall.ranked[0].scenario, "cold-local-import");
  EXPECT_EQ(wall.ranked[0].rank, 1U);
  EXPECT_DOUBLE_EQ(wall.ranked[0].value, 12);
  EXPECT_EQ(wall.ranked[1].scenario, "warm-local-import");
  EXPECT_DOUBLE_EQ(wall.ranked[1].value, 6);
  EXPECT_THAT(wall.without, IsEmpty());
  EXPECT_NEAR(rankings[2].ranked[0].value, 2.4, 1e-12);  // 90 % to 110 % of 12
  const HotspotRanking& imports = rankings[3];
  EXPECT_EQ(imports.ranked.size(), 4U);
  EXPECT_THAT(imports.without, ElementsAre("isolate-startup"));
  const HotspotRanking& share = rankings[9];
  EXPECT_EQ(share.ranked[0].scenario, "builtin-import");
  EXPECT_DOUBLE_EQ(share.ranked[0].value, 80);
  EXPECT_DOUBLE_EQ(rankings[10].ranked[0].value, 38);
  EXPECT_EQ(hotspot_value("pct", 12.345), "12.3%");
  EXPECT_EQ(hotspot_value("ms", 12.345678), "12.35");
}

TEST(Hotspots, equal_ones_are_ranked_by_name) {
  const Document document = example_import_run();
  const auto context = hotspot_rankings(guest_lines(document))[5];
  std::vector<std::string> names;
  for (const Hotspot& spot : context.ranked) names.push_back(spot.scenario);
  EXPECT_THAT(names, ElementsAre("builtin-import", "cold-local-import", "isolate-startup",
                                 "warm-local-import", "prewarmed-local-import"));
}

TEST(Hotspots, phases_that_a_lane_does_not_have_are_missing) {
  const Document document = example_import_run();
  const auto rankings = hotspot_rankings(lines_of(import_lines(document), "node"));
  EXPECT_THAT(rankings[5].ranked, IsEmpty());
  EXPECT_EQ(rankings[5].without.size(), 5U);
}

TEST(ControlMatrix, names_each_thing_once) {
  const Document document = example_import_run();
  const auto matrix = control_matrix(import_lines(document));
  ASSERT_EQ(matrix.size(), 4U);
  EXPECT_EQ(matrix[1].workload, "local-import");
  EXPECT_THAT(matrix[1].targets, ElementsAre("node", "guest"));
  EXPECT_THAT(matrix[1].modes, ElementsAre("true-cold-start", "new-session-replay", "same-engine-replay"));
  EXPECT_THAT(matrix[1].scenarios,
              ElementsAre("cold-local-import", "warm-local-import", "prewarmed-local-import"));
}

TEST(ImportGuidance, is_computed_lane_by_lane) {
  EXPECT_THAT(
      import_guidance(example_import_run()),
      ElementsAre(
          "node: with a compile cache the local graph is imported in 5.00 ms instead of 10.0 ms (50.0 % "
          "less)",
          "node: 88.9 % of a warm local import (40.0 ms of 45.0 ms) lies outside of its imports, where a "
          "compile cache gains nothing; an empty isolate takes 40.0 ms",
          "node: importing typescript takes 100× as long as importing built-in modules (200 ms and 2.00 ms)",
          "node: a round trip over stdio takes 0.0500 ms with 32 bytes and 0.200 ms with 65,536: no exchange "
          "with a program costs less",
          "node: large-package-import is the noisiest: a standard deviation of 19.6 ms, from 216 ms to 264 "
          "ms",
          "node: large-package-import is the heaviest: 230 MB of resident memory",
          "guest: with a compile cache the local graph is imported in 2.00 ms instead of 8.00 ms (75.0 % "
          "less)",
          "guest: 66.7 % of a warm local import (4.00 ms of 6.00 ms) lies outside of its imports, where a "
          "compile cache gains nothing; an empty isolate takes 4.00 ms",
          "guest: a warm local import is 1.00 ms of context setup, 2.00 ms of startup, 2.00 ms of guest "
          "execution and 1.00 ms of completion",
          "guest: an engine that stays alive with its pool has 2.00 ms of startup overhead instead of 4.00 "
          "ms "
          "(50.0 % less)",
          "guest: a round trip over stdio takes 0.0200 ms with 32 bytes and 0.100 ms with 65,536: no "
          "exchange "
          "with a program costs less",
          "guest: cold-local-import is the noisiest: a standard deviation of 0.980 ms, from 10.8 ms to 13.2 "
          "ms",
          "guest: cold-local-import is the heaviest: 38 MB of resident memory"));
}

TEST(ImportGuidance, leaves_out_what_it_has_no_figures_for) {
  Document document = example_import_run();
  std::erase_if(document.rows, [](const Row& row) { return row.row != "isolate-startup"; });
  EXPECT_THAT(import_guidance(document), IsEmpty());
}

TEST(ImportGuidance, says_when_a_cache_costs_time) {
  Document document = example_import_run();
  for (Row& row : document.rows) {
    if (row.row == "warm-local-import") row.metrics["guest_execution"] = made_import_metric(16);
  }
  EXPECT_THAT(
      import_guidance(document),
      testing::Contains("guest: with a compile cache the local graph is imported in 16.0 ms instead of "
                        "8.00 ms (100.0 % more)"));
}

}  // namespace

Document example_import_run() {
  Document document = example_quick_run();
  document.rows.clear();
  document.comparisons.clear();
  document.findings.clear();
  document.calibrations.reset();
  document.command = {"tare", "import", "--iterations", "3"};
  document.config = json::parse(
      R"({"bench": "import", "iterations": 3, "warmup": 1, "processes": 1, "scenarios": [)"
      R"({"id": "isolate-startup", "workload": "startup-floor", "runtime": "native-execution",)"
      R"( "mode": "baseline-control", "description": "Nothing but a start.", "fixture": "empty entrypoint",)"
      R"( "compileCache": "disabled", "engineReuse": "fresh-per-sample"},)"
      R"({"id": "cold-local-import", "workload": "local-import", "runtime": "native-execution",)"
      R"( "mode": "true-cold-start", "description": "A cold graph.", "fixture": "24-module local ESM graph",)"
      R"( "compileCache": "disabled", "engineReuse": "fresh-per-sample"},)"
      R"({"id": "warm-local-import", "workload": "local-import", "runtime": "native-execution",)"
      R"( "mode": "new-session-replay", "description": "A warm graph.", "fixture": "24-module local ESM graph",)"
      R"( "compileCache": "primed", "engineReuse": "fresh-per-sample"},)"
      R"({"id": "prewarmed-local-import", "workload": "local-import", "runtime": "native-execution",)"
      R"( "mode": "same-engine-replay", "description": "In a live engine.", "fixture": "24-module local ESM graph",)"
      R"( "compileCache": "primed", "engineReuse": "shared-across-scenario"},)"
      R"({"id": "builtin-import", "workload": "builtin-import", "runtime": "native-execution",)"
      R"( "mode": "true-cold-start", "description": "Built-in modules.", "fixture": "node:path",)"
      R"( "compileCache": "disabled", "engineReuse": "fresh-per-sample"},)"
      R"({"id": "large-package-import", "workload": "large-package-import", "runtime": "host-node",)"
      R"( "mode": "true-cold-start", "description": "A large package.", "fixture": "typescript",)"
      R"( "compileCache": "disabled", "engineReuse": "fresh-per-sample"}]})",
      "config");
  document.targets.clear();
  for (const char* id : {"node", "guest"}) {
    Target target;
    target.id = id;
    target.kind = target.id == "node" ? Lane::reference : Lane::subject;
    target.version = target.id == "node" ? "24.22.3" : "0.1.0";
    target.path = std::string("/opt/") + id;
    target.driver = {id, "driver"};
    document.targets.push_back(target);
  }
  document.rows = {made_round_trip(32, "node", 0.05), made_round_trip(32, "guest", 0.02),
                   made_round_trip(65536, "node", 0.2), made_round_trip(65536, "guest", 0.1)};
  for (const Made& made : on_node) document.rows.push_back(made_row(made, "node"));
  for (const Made& made : on_guest) document.rows.push_back(made_row(made, "guest"));
  for (const auto& [row, target, why] :
       {std::tuple("prewarmed-local-import", "node", "it has no engine that outlives a process"),
        std::tuple("large-package-import", "guest",
                   "typescript is not installed; run: tare targets install import")}) {
    Row lacking = import_row(row, target);
    lacking.status = RowStatus::unavailable;
    lacking.reason = why;
    lacking.outcomes.clear();
    lacking.invariants.clear();
    document.rows.push_back(lacking);
  }
  for (const Row& row : std::vector<Row>(document.rows)) {
    if (row.status == RowStatus::ok) compare_with_node(document, row);
  }
  document.guidance = import_guidance(document);
  return document;
}

ImportBaseline example_import_baseline() {
  ImportBaseline baseline;
  baseline.source = "base.json";
  baseline.started_at = "2026-01-31T12:00:00Z";
  ImportDelta cold{"cold-local-import", "guest", "A cold graph.", {16, 12, -4, -25}, {}, {}, {}, {}, {}};
  cold.guest_import = MeanDelta{12, 8, -4, -100.0 / 3};
  cold.startup_overhead = MeanDelta{4, 4, 0, 0};
  cold.context_setup = MeanDelta{1, 1, 0, 0};
  cold.startup = MeanDelta{2, 2, 0, 0};
  cold.completion = MeanDelta{1, 1, 0, 0};
  ImportDelta host{"isolate-startup", "node", "Nothing but a start.", {32, 40, 8, 25}, {}, {}, {}, {}, {}};
  host.startup = MeanDelta{32, 40, 8, 25};
  baseline.deltas = {cold, host};
  baseline.missing = {"warm-local-import on guest"};
  baseline.baseline_only = {"jszip-startup on node"};
  Comparison one;
  one.kind = ComparisonKind::baseline;
  one.row = "cold-local-import";
  one.metric = "total";
  one.quantile = "p50";
  one.subject = "guest";
  one.reference = "base.json";
  one.ratio = 0.75;
  one.difference = -4;
  one.unit = "ms";
  one.verdict = Verdict::inconclusive;
  one.reason = "an interval takes 4 processes a side";
  baseline.comparisons = {one};
  return baseline;
}

TEST(ImportBaseline, the_terminal_says_whether_what_moved_furthest_is_known_to_have_moved) {
  Document document = example_import_run();
  Comparison one;
  one.kind = ComparisonKind::baseline;
  one.row = "isolate-startup";
  one.metric = "total";
  one.quantile = "p50";
  one.subject = "node";
  one.reference = "base.json";
  one.difference = -4;
  one.unit = "ms";
  for (const auto& [verdict, end] :
       {std::pair(Verdict::inconclusive, ", inconclusive\n"), {Verdict::pass, "\n"}}) {
    one.verdict = verdict;
    document.comparisons = {one};
    EXPECT_THAT(render(document, {.width = 200}),
                testing::HasSubstr(
                    std::string("largest improvement: isolate-startup on node, -4.00 ms at p50") + end));
  }
}

TEST(ImportBaseline, knows_what_moved_furthest) {
  const ImportBaseline baseline = example_import_baseline();
  ASSERT_NE(baseline.largest_improvement(), nullptr);
  EXPECT_EQ(baseline.largest_improvement()->scenario, "cold-local-import");
  ASSERT_NE(baseline.largest_regression(), nullptr);
  EXPECT_EQ(baseline.largest_regression()->scenario, "isolate-startup");
  EXPECT_EQ(ImportBaseline{}.largest_improvement(), nullptr);
}

}  // namespace tare::report
