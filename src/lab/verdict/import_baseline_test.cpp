#include "lab/verdict/import_baseline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/verdict/samples.hpp"

namespace tare::verdict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// `processes` workers with two samples each, around `centre`, no two alike.
report::Metric import_metric(double centre, std::uint32_t processes, const std::string& unit = "ms") {
  report::Metric metric;
  metric.unit = unit;
  for (std::uint32_t k = 0; k < processes; ++k) {
    add_sample(metric, centre * (1 + 0.001 * k), 2 * k, k);
    add_sample(metric, centre * (1 + 0.001 * k), 2 * k + 1, k);
  }
  summarise(metric);
  return metric;
}

report::Row import_row_of(const std::string& name, const std::string& target, double total, double imports,
                          std::uint32_t processes = 1) {
  report::Row row = made_row(name, target, import_metric(total, processes));
  row.bench = "import";
  row.metrics["guest_execution"] = import_metric(imports, processes);
  row.metrics["startup_overhead"] = import_metric(total - imports, processes);
  return row;
}

std::string baseline_refusal(const report::Document& document) {
  try {
    import_baseline_of(document, "base.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.line();
  }
  return "";
}

TEST(ImportBaselineOf, wants_rows_of_the_bench_in_units_of_their_kind) {
  report::Document document = made_document({import_row_of("a", "node", 10, 4)});
  EXPECT_EQ(baseline_refusal(document), "");
  document.rows[0].metrics["total"].unit = "bananas";
  EXPECT_THAT(baseline_refusal(document),
              HasSubstr("base.json: a on node (total is in 'bananas', which is no time)"));
  document.rows[0].metrics["total"].unit = "ms";
  document.rows[0].metrics["rss"] = import_metric(5, 1, "ms");
  EXPECT_THAT(baseline_refusal(document), HasSubstr("rss is in 'ms', which is no size"));
  document.rows[0].bench = "spawn";
  EXPECT_THAT(baseline_refusal(document), HasSubstr("it has rows of spawn"));
  document.rows.clear();
  EXPECT_THAT(baseline_refusal(document), HasSubstr("it has no rows"));
}

TEST(ImportBaselineOf, takes_its_part_of_a_document_of_several_benches) {
  report::Row spawn = made_row("node_exit_1", "node", import_metric(1, 1));
  const report::Document all = made_document({spawn, import_row_of("a", "node", 10, 4)});
  const report::Document part = import_baseline_of(all, "all.json");
  ASSERT_EQ(part.rows.size(), 1U);
  EXPECT_EQ(part.rows[0].row, "a");
}

TEST(CompareImport, gives_differences_of_means_in_milliseconds) {
  report::Document base =
      made_document({import_row_of("a", "node", 10, 4), import_row_of("b", "node", 5, 1)});
  const report::Document now =
      made_document({import_row_of("a", "node", 12, 3), import_row_of("c", "node", 7, 1)});
  for (auto& [name, metric] : base.rows[0].metrics) {
    metric.unit = "us";
    for (auto& sample : metric.samples) sample = *sample * 1000;
    summarise(metric);
  }
  const report::ImportBaseline result = compare_import(base, "base.json", now);
  ASSERT_EQ(result.deltas.size(), 1U);
  const report::ImportDelta& delta = result.deltas[0];
  EXPECT_NEAR(delta.wall.base, 10, 1e-9);
  EXPECT_NEAR(delta.wall.delta, 2, 1e-9);
  EXPECT_NEAR(delta.wall.percent, 20, 1e-9);
  EXPECT_NEAR(delta.guest_import.value().delta, -1, 1e-9);
  EXPECT_NEAR(delta.startup_overhead.value().delta, 3, 1e-9);
  EXPECT_FALSE(delta.context_setup);
  EXPECT_THAT(result.missing, ElementsAre("c on node"));
  EXPECT_THAT(result.baseline_only, ElementsAre("b on node"));
  EXPECT_EQ(result.largest_improvement(), nullptr);
  EXPECT_EQ(result.largest_regression(), &result.deltas[0]);
}

TEST(BaselineFindings, name_what_makes_a_comparison_doubtful) {
  report::Document base = made_document({import_row_of("a", "node", 10, 4)});
  report::Document now = base;
  base.complete = now.complete = true;
  EXPECT_THAT(baseline_findings(base, {}, now), ElementsAre());
  base.complete = false;
  base.host.cpu = "another";
  base.tool.build = "Debug";
  report::ImportBaseline comparison;
  comparison.missing = {"b on node"};
  comparison.baseline_only = {"c on node", "d on node"};
  std::vector<std::string> texts;
  for (const report::Finding& finding : baseline_findings(base, comparison, now))
    texts.push_back(finding.text);
  EXPECT_THAT(texts, ElementsAre(HasSubstr("another machine"), HasSubstr("another build of tare (Debug)"),
                                 HasSubstr("cut short"), HasSubstr("lacks 1 of this run: b on node"),
                                 HasSubstr("2 of it this run does not have: c on node, d on node")));
}

TEST(CompareImport, one_process_a_side_is_inconclusive_and_enough_of_them_tell) {
  const auto verdicts = [](std::uint32_t processes, double factor) {
    const report::Document base = made_document({import_row_of("a", "node", 10, 4, processes)});
    const report::Document now =
        made_document({import_row_of("a", "node", 10 * factor, 4 * factor, processes)});
    std::vector<report::Verdict> all;
    for (const report::Comparison& one : compare_import(base, "base.json", now).comparisons) {
      EXPECT_EQ(one.kind, report::ComparisonKind::baseline);
      EXPECT_EQ(one.reference, "base.json");
      all.push_back(one.verdict.value());
    }
    return all;
  };
  using enum report::Verdict;
  EXPECT_THAT(verdicts(1, 2), ElementsAre(inconclusive, inconclusive, inconclusive));
  EXPECT_THAT(verdicts(8, 2), ElementsAre(fail, fail, fail));
  EXPECT_THAT(verdicts(8, 0.5), ElementsAre(pass, pass, pass));
}

}  // namespace
}  // namespace tare::verdict
