#include <gtest/gtest.h>

#include "lab/report/agents_table.hpp"
#include "lab/report/example_document.hpp"

namespace tare::report {
namespace {

struct Scenario {
  const char* name;
  std::vector<std::uint64_t> sizes;
  double embedded_ms;  ///< of the first size; the others take as much more as they are larger
  double node_ms;
};

const std::vector<Scenario> scenarios = {{"spawnPipelineInMemory", {1, 64}, 0.0021, 0.031},
                                         {"spawnPipelineDurable", {1, 64}, 0.081, 0.42},
                                         {"admission", {1, 64}, 0.00031, 0.0042},
                                         {"recoverySweep", {32, 512}, 0.0083, 0.061},
                                         {"duplicateSuppression", {32, 512}, 0.0024, 0.019},
                                         {"spawnSettleEndToEnd", {64}, 1.21, 5.4},
                                         {"mixedLoad", {64}, 0.052, 0.31},
                                         {"durableCrash", {1000}, 3.4, 9.9},
                                         {"restartScale", {1000, 1'000'000}, 1.7, 6.3}};

Metric metric_of(double centre, const std::string& unit) {
  Metric metric;
  metric.unit = unit;
  std::vector<double> samples;
  for (std::uint32_t i = 0; i < 10; ++i) {
    samples.push_back(centre * (1 + 0.01 * (i * 7 % 10)));
    metric.samples.emplace_back(samples.back());
    metric.round.push_back(i);
    metric.process.push_back(0);
    metric.at_ms.push_back(i);
    metric.outcome.push_back(Outcome::ok);
    metric.error.emplace_back();
  }
  metric.warmup = {centre * 3};
  metric.summary = measure::summarise(samples);
  return metric;
}

Row row_of(const Scenario& scenario, std::uint64_t size, const std::string& target) {
  Row row;
  row.bench = "agents";
  row.row = scenario.name + std::string("_") + std::to_string(size);
  row.target = target;
  row.size = size;
  return row;
}

Row measured(const Scenario& scenario, std::uint64_t size, const std::string& target) {
  Row row = row_of(scenario, size, target);
  const double first = target == "embedded" ? scenario.embedded_ms : scenario.node_ms;
  const double ms = first * static_cast<double>(size) / static_cast<double>(scenario.sizes.front());
  row.metrics["total"] = metric_of(ms, "ms");
  if (row.row.starts_with("spawnSettle")) {
    row.metrics["spawn"] = metric_of(ms * 0.7, "ms");
    row.metrics["settle"] = metric_of(ms * 0.3, "ms");
  }
  if (row.row.starts_with("restartScale"))
    row.metrics["per_row"] = metric_of(ms / static_cast<double>(size), "ms");
  const double memory = target == "embedded" ? 9e6 : 52e6;
  row.metrics["rssStartBytes"] = metric_of(memory, "bytes");
  row.metrics["rssEndBytes"] = metric_of(memory, "bytes");
  row.metrics["processMaxRssBytes"] = metric_of(memory * 1.2, "bytes");
  row.outcomes["ok"] = 10;
  row.counters["registeredRuns"] = static_cast<std::int64_t>(size * 10);
  row.resources.max_rss_bytes = static_cast<std::uint64_t>(memory * 1.3);
  row.resources.methods = {"max RSS: VmHWM of the worker itself, as it reports it"};
  row.invariants.push_back({"registeredRuns", true, 11, 0, std::to_string(size), {}});
  return row;
}

Comparison tax(const Row& subject, const Row& reference) {
  Comparison c;
  c.row = subject.row;
  c.metric = "total";
  c.quantile = "p50";
  c.subject = subject.target;
  c.reference = reference.target;
  c.unit = "ms";
  c.pairs = 10;
  c.method = "p50 ÷ p50, bootstrap";
  c.ratio = *subject.metrics.at("total").summary.p50 / *reference.metrics.at("total").summary.p50;
  c.interval = Interval{*c.ratio * 0.97, *c.ratio * 1.03};
  return c;
}

TEST(AgentsTable, figures_are_in_the_unit_that_suits_them) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(0.00031), "310 ns");
  EXPECT_EQ(duration_text(0.0009999), "1.00 µs");
  EXPECT_EQ(duration_text(0.0312), "31.2 µs");
  EXPECT_EQ(duration_text(0.99999), "1.00 ms");
  EXPECT_EQ(duration_text(12.4), "12.4 ms");
  EXPECT_EQ(duration_text(999.9), "1.00 s");
  EXPECT_EQ(duration_text(300'000), "300 s");
}

}  // namespace

Document example_agents_run() {
  Document document = example_quick_run();
  document.rows.clear();
  document.comparisons.clear();
  document.findings.clear();
  document.calibrations.reset();
  document.command = {"tare", "agents", "--quick"};
  document.config = json::parse(R"({"bench": "agents", "runs": 10, "warmup": 1, "processes": 1})", "config");
  document.targets.clear();
  for (const char* id : {"embedded", "node", "python"}) {
    Target target;
    target.id = id;
    target.kind = target.id == "node" ? Lane::reference : Lane::subject;
    target.driver = {id, "driver"};
    document.targets.push_back(target);
  }
  for (const Scenario& scenario : scenarios) {
    for (const std::uint64_t size : scenario.sizes) {
      const Row node = measured(scenario, size, "node");
      document.rows.push_back(measured(scenario, size, "embedded"));
      document.comparisons.push_back(tax(document.rows.back(), node));
      document.rows.push_back(node);
      const bool lacks = std::string(scenario.name) == "mixedLoad";
      document.rows.push_back(lacks ? row_of(scenario, size, "python") : measured(scenario, size, "python"));
      if (!lacks) {
        document.comparisons.push_back(tax(document.rows.back(), node));
        continue;
      }
      document.rows.back().status = RowStatus::unavailable;
      document.rows.back().reason = "does one thing at a time";
    }
  }
  document.memory = Memory{8'100'000, 9'000'000, 67'600'000};
  document.findings = {{FindingLevel::note, {}, {}, "one worker of each row and lane"}};
  return document;
}

}  // namespace tare::report
