#include "lab/verdict/compare.hpp"

#include <gtest/gtest.h>

#include "lab/verdict/samples.hpp"

namespace tare::verdict {
namespace {

report::Document run(double median, std::uint64_t seed, std::uint32_t processes = 8) {
  measure::Random random(seed);
  return made_document({made_row("node_exit_1", "node", made_metric({median}, processes, 20, random)),
                        made_row("nested_8", "node", made_metric({8 * median}, processes, 20, random))});
}

Comparison compare_documents(const report::Document& base, const report::Document& now,
                             CompareOptions options = {}) {
  return compare({"base.json", {}, &base}, {"new.json", {}, &now}, options);
}

const Entry& find(const Comparison& comparison, const std::string& row, const std::string& quantile) {
  for (const Entry& entry : comparison.entries) {
    if (entry.row == row && entry.quantile == quantile) return entry;
  }
  throw std::runtime_error("no entry " + row + " " + quantile);
}

TEST(Compare, a_clear_change_is_found_in_every_row) {
  const Comparison result = compare_documents(run(100, 1), run(130, 2));
  for (const char* row : {"node_exit_1", "nested_8"}) {
    EXPECT_EQ(find(result, row, "p50").change, Change::worse) << row;
    EXPECT_NEAR(find(result, row, "p50").ratio.value(), 1.3, 0.03) << row;
  }
  EXPECT_FALSE(result.paired);
  EXPECT_TRUE(result.same_machine);
}

TEST(Compare, swapping_the_sides_swaps_better_and_worse) {
  const report::Document a = run(100, 1);
  const report::Document b = run(130, 2);
  EXPECT_EQ(find(compare_documents(b, a), "nested_8", "p50").change, Change::better);
  EXPECT_NEAR(find(compare_documents(b, a), "nested_8", "p50").ratio.value() *
                  find(compare_documents(a, b), "nested_8", "p50").ratio.value(),
              1, 1e-9);
}

TEST(Compare, the_same_document_is_the_same) {
  const report::Document a = run(100, 1);
  const report::Document copy = a;
  for (const Entry& entry : compare_documents(a, copy).entries) {
    EXPECT_NE(entry.change, Change::worse);
    EXPECT_DOUBLE_EQ(entry.ratio.value(), 1);
  }
}

TEST(Compare, all_metrics_share_one_correction) {
  const Comparison result = compare_documents(run(100, 1), run(130, 2));
  const auto with_p = std::ranges::count_if(result.entries, [](const Entry& e) { return e.p.has_value(); });
  double smallest = 1;
  for (const Entry& entry : result.entries) smallest = std::min(smallest, entry.p.value_or(1));
  for (const Entry& entry : result.entries) {
    if (entry.p == smallest) {
      EXPECT_NEAR(*entry.p_adjusted, smallest * static_cast<double>(with_p), 1e-12);
    }
    EXPECT_GE(entry.p_adjusted.value_or(1), entry.p.value_or(1));
  }
}

TEST(Compare, lanes_of_one_run_are_paired) {
  measure::Random random(4);
  const report::Document document =
      made_document({made_row("node_exit_1", "node", made_metric({100}, 1, 30, random)),
                     made_row("node_exit_1", "bun", made_metric({50}, 1, 30, random))});
  const Comparison result =
      compare({"run.json@node", "node", &document}, {"run.json@bun", "bun", &document}, {});
  ASSERT_TRUE(result.paired);
  EXPECT_EQ(find(result, "node_exit_1", "p50").pairs, 30U);
  EXPECT_EQ(find(result, "node_exit_1", "p50").new_target, "bun");
  EXPECT_EQ(find(result, "node_exit_1", "p50").change, Change::better);
  EXPECT_TRUE(result.differences.empty());
}

TEST(Compare, rows_that_one_side_lacks_are_named_and_unmeasured) {
  const report::Document base = run(100, 1);
  report::Document now = run(100, 2);
  now.rows[0].row = "renamed";
  now.rows[1].status = report::RowStatus::failed;
  now.rows[1].reason = "exit_code: expected 0, got 1";
  const Comparison result = compare_documents(base, now);
  EXPECT_EQ(result.missing, (std::vector<std::string>{"node_exit_1 on node",
                                                      "nested_8 on node (exit_code: expected 0, got 1)"}));
  EXPECT_EQ(result.extra, std::vector<std::string>{"renamed on node"});
  for (const Entry& entry : result.entries) EXPECT_EQ(entry.verdict, report::Verdict::unmeasured);
}

TEST(Compare, units_are_normalised_or_refused) {
  const report::Document base = run(100, 1);
  report::Document now = run(100, 2);
  for (auto& sample : now.rows[0].metrics["total"].samples) sample = *sample * 1000;
  now.rows[0].metrics["total"].unit = "us";
  now.rows[1].metrics["total"].unit = "MB";
  const Comparison result = compare_documents(base, now);
  EXPECT_NEAR(find(result, "node_exit_1", "p50").ratio.value(), 1, 0.03);
  EXPECT_EQ(find(result, "nested_8", "p50").verdict, report::Verdict::unmeasured);
  EXPECT_EQ(find(result, "nested_8", "p50").reason, "its unit is MB, not ms");
}

TEST(Compare, two_machines_are_told_apart) {
  const report::Document base = run(100, 1);
  report::Document now = run(200, 2);
  now.host.cpu = "Another CPU";
  EXPECT_EQ(find(compare_documents(base, now), "nested_8", "p50").verdict, report::Verdict::inconclusive);
  EXPECT_EQ(compare_documents(base, now).differences.front().what, "CPU");
  CompareOptions across;
  across.machines = Machines::may_differ;
  EXPECT_EQ(find(compare_documents(base, now, across), "nested_8", "p50").change, Change::worse);
}

TEST(Compare, what_sharing_the_processors_explains_is_no_change) {
  const report::Document base = run(100, 1);
  report::Document now = run(130, 2);
  EXPECT_EQ(noise_floor(base, now), 0);
  now.host.load = {3.0, 2.0, 1.0};
  now.host.psi.before.emplace().cpu = measure::Pressure{50, 0, {}, {}};
  // Half of the time there was twice as much to do as processors, so that times can be half as long again.
  EXPECT_DOUBLE_EQ(noise_floor(base, now), 0.5);
  const Comparison noisy = compare_documents(base, now);
  EXPECT_DOUBLE_EQ(noisy.noise_floor, 0.5);
  EXPECT_EQ(find(noisy, "nested_8", "p50").change, Change::unclear);
  EXPECT_EQ(find(noisy, "nested_8", "p50").minimum_detectable, 0.5);
  now.host.psi.before->cpu->some_avg10 = 10;
  EXPECT_EQ(find(compare_documents(base, now), "nested_8", "p50").change, Change::worse);
}

TEST(Compare, provenance_names_what_differs) {
  const report::Document base = run(100, 1);
  report::Document now = run(100, 1);
  now.targets[0].version = "v25.0.0";
  now.tool.commit = "abc";
  now.config = json::Object{{"iterations", 30}};
  std::vector<std::string> names;
  for (const Difference& difference : differences(base, now)) names.push_back(difference.what);
  EXPECT_EQ(names, (std::vector<std::string>{"tool", "target node version", "option iterations"}));
  EXPECT_TRUE(differences(base, base).empty());
}

TEST(Compare, phases_of_an_asynchronous_lane_are_not_compared_with_others) {
  measure::Random random(4);
  report::Document document =
      made_document({made_row("node_exit_1", "node", made_metric({100}, 1, 30, random)),
                     made_row("node_exit_1", "agentos", made_metric({50}, 1, 30, random))});
  for (report::Row& row : document.rows) row.metrics["spawn"] = row.metrics["total"];
  document.targets[1].asynchronous_spawn = true;
  const Comparison result =
      compare({"run.json@node", "node", &document}, {"run.json@agentos", "agentos", &document}, {});
  for (const Entry& entry : result.entries) EXPECT_EQ(entry.metric, "total");
}

}  // namespace
}  // namespace tare::verdict
