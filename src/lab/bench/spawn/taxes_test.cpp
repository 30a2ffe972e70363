#include "lab/bench/spawn/taxes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::spawn {
namespace {

using report::ComparisonKind;

report::Target target(std::string id, report::Lane lane) {
  report::Target target;
  target.id = std::move(id);
  target.kind = lane;
  return target;
}

/// A row whose sample of round r is `value(r)`.
report::Row row(std::string name, std::string target, std::size_t rounds,
                const std::function<double(std::size_t)>& value, const std::string& metric = "total") {
  report::Row row;
  row.row = std::move(name);
  row.target = std::move(target);
  report::Metric& samples = row.metrics[metric];
  samples.unit = "ms";
  for (std::size_t r = 0; r < rounds; ++r) {
    samples.samples.emplace_back(value(r));
    samples.round.push_back(static_cast<std::uint32_t>(r));
    samples.process.push_back(0);
    samples.at_ms.push_back(0);
    samples.outcome.push_back(report::Outcome::ok);
    samples.error.emplace_back();
  }
  return row;
}

report::Document three_lanes() {
  report::Document document;
  document.targets = {target("native", report::Lane::floor), target("sh", report::Lane::floor),
                      target("node", report::Lane::reference), target("mine", report::Lane::subject)};
  return document;
}

std::vector<report::Comparison> of_kind(const std::vector<report::Comparison>& all, ComparisonKind kind,
                                        const std::string& quantile) {
  std::vector<report::Comparison> found;
  for (const auto& one : all) {
    if (one.kind == kind && one.quantile == quantile) found.push_back(one);
  }
  return found;
}

TEST(Taxes, emulation_is_against_node_and_total_against_native) {
  report::Document document = three_lanes();
  const auto drift = [](std::size_t r) { return 10.0 + static_cast<double>(r); };
  document.rows = {row("fanout_8", "native", 100, drift),
                   row("fanout_8", "node", 100, [&](auto r) { return 2 * drift(r); }),
                   row("fanout_8", "mine", 100, [&](auto r) { return 6 * drift(r); })};
  const auto all = taxes(document, 1);
  const auto emulation = of_kind(all, ComparisonKind::emulation, "p50");
  ASSERT_EQ(emulation.size(), 1U);
  EXPECT_EQ(emulation[0].subject, "mine");
  EXPECT_EQ(emulation[0].reference, "node");
  EXPECT_NEAR(*emulation[0].ratio, 3.0, 1e-12);  // exact in every round, whatever the drift
  EXPECT_NEAR((*emulation[0].interval)[1], 3.0, 1e-12);
  EXPECT_EQ(emulation[0].pairs, 100U);
  const auto total = of_kind(all, ComparisonKind::total, "p50");
  ASSERT_EQ(total.size(), 2U);
  EXPECT_NEAR(*total[0].ratio, 2.0, 1e-12);
  EXPECT_NEAR(*total[1].ratio, 6.0, 1e-12);
  EXPECT_EQ(of_kind(all, ComparisonKind::emulation, "p95").size(), 1U);
}

TEST(Taxes, pairs_are_rounds_in_which_both_lanes_succeeded) {
  report::Document document = three_lanes();
  document.rows = {row("node_exit_1", "node", 10, [](auto) { return 1.0; }),
                   row("node_exit_1", "mine", 8, [](auto) { return 2.0; })};
  document.rows[1].metrics["total"].outcome[3] = report::Outcome::timeout;
  document.rows[1].metrics["total"].samples[3] = 1e9;
  document.rows[0].metrics["total"].outcome[5] = report::Outcome::failed;
  const auto emulation = of_kind(taxes(document, 1), ComparisonKind::emulation, "p50");
  EXPECT_EQ(emulation[0].pairs, 6U);
  EXPECT_EQ(emulation[0].ratio, 2.0);
}

TEST(Taxes, floor_is_the_cheapest_process) {
  report::Document document = three_lanes();
  document.rows = {row("node_exit_1", "node", 100, [](auto) { return 30.0; }),
                   row("spawn_exit", "sh", 100, [](auto) { return 1.5; })};
  const auto floor = of_kind(taxes(document, 1), ComparisonKind::floor, "p50");
  ASSERT_EQ(floor.size(), 1U);
  EXPECT_EQ(floor[0].ratio, 20.0);
  EXPECT_EQ(floor[0].reference, "sh/spawn_exit");
}

TEST(Taxes, phases_are_compared_only_where_both_lanes_mean_the_same) {
  report::Document document = three_lanes();
  document.targets[3].asynchronous_spawn = true;
  document.rows = {row(
                       "node_exit_1", "node", 10, [](auto) { return 1.0; }, "spawn"),
                   row("node_exit_1", "mine", 10, [](auto) { return 1.0; }, "spawn")};
  EXPECT_TRUE(taxes(document, 1).empty());
  document.targets[3].asynchronous_spawn = false;
  EXPECT_FALSE(taxes(document, 1).empty());
}

TEST(Taxes, a_lane_without_samples_gives_no_comparison) {
  report::Document document = three_lanes();
  document.rows = {row("node_exit_1", "node", 10, [](auto) { return 1.0; }),
                   row("node_exit_1", "mine", 0, [](auto) { return 1.0; })};
  EXPECT_TRUE(of_kind(taxes(document, 1), ComparisonKind::emulation, "p50").empty());
}

TEST(Taxes, few_rounds_give_a_point_without_an_interval) {
  report::Document document = three_lanes();
  document.rows = {row("node_exit_1", "node", 5, [](auto) { return 1.0; }),
                   row("node_exit_1", "mine", 5, [](auto) { return 2.0; })};
  const auto emulation = of_kind(taxes(document, 1), ComparisonKind::emulation, "p50");
  EXPECT_EQ(emulation[0].ratio, 2.0);
  EXPECT_EQ(emulation[0].interval, std::nullopt);
  EXPECT_TRUE(emulation[0].reason.has_value());
}

}  // namespace
}  // namespace tare::spawn
