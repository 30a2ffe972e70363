#include "lab/verdict/pairing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/verdict/compare.hpp"
#include "lab/verdict/samples.hpp"

namespace tare::verdict {
namespace {

using measure::Pairing;

/// Two lanes of one run, of which `now` is always twice as slow, in so many processes.
report::Document lanes(const std::string& bench, std::uint32_t processes) {
  std::vector<report::Row> rows;
  for (const auto& [target, median] : {std::pair("node", 100.0), std::pair("mine", 200.0)}) {
    measure::Random random(7);
    rows.push_back(
        made_row("admission_8", target, made_metric({median, 0.01, 0, 0.01}, processes, 10, random)));
    rows.back().bench = bench;
  }
  return made_document(std::move(rows));
}

Comparison compared(const report::Document& document) {
  return compare({"run.json", "node", &document}, {"run.json", "mine", &document}, {});
}

TEST(Pairing, rounds_of_a_bench_that_interleaves_samples_are_pairs) {
  const report::Document document = lanes("spawn", 1);
  EXPECT_EQ(pairing_of_lanes(document.rows[0], document.rows[1]), Pairing::paired);
  EXPECT_EQ(compared(document).entries[0].pairs, 10U);
  EXPECT_EQ(compared(document).entries[0].change, Change::worse);
}

TEST(Pairing, samples_of_one_worker_are_no_pairs_with_those_of_another) {
  const report::Document document = lanes("agents", 1);
  EXPECT_EQ(pairing_of_lanes(document.rows[0], document.rows[1]), Pairing::unpaired);
  const Entry entry = compared(document).entries[0];
  EXPECT_EQ(entry.interval, std::nullopt);
  EXPECT_EQ(entry.change, Change::unclear);
  EXPECT_EQ(pairing_of_lanes(lanes("agents", 5).rows[0], lanes("agents", 6).rows[1]), Pairing::unpaired);
}

TEST(Pairing, six_workers_a_lane_are_pairs) {
  const report::Document document = lanes("agents", 6);
  EXPECT_EQ(pairing_of_lanes(document.rows[0], document.rows[1]), Pairing::paired);
  const Entry entry = compared(document).entries[0];
  EXPECT_EQ(entry.pairs, 6U);
  EXPECT_EQ(entry.change, Change::worse);
}

TEST(Pairing, six_runs_of_a_gateway_are_pairs_and_fewer_are_none) {
  EXPECT_EQ(pairing_of_lanes(lanes("gateway", 5).rows[0], lanes("gateway", 6).rows[1]), Pairing::unpaired);
  EXPECT_NE(compared(lanes("gateway", 1)).entries[0].reason.value_or("").find("(--runs)"), std::string::npos);
  const Entry entry = compared(lanes("gateway", 6)).entries[0];
  EXPECT_EQ(entry.pairs, 6U);
  EXPECT_EQ(entry.change, Change::worse);
}

TEST(Pairing, runs_of_a_gateway_are_paired_though_each_took_another_number_of_samples) {
  report::Document document = lanes("gateway", 6);
  report::Metric& metric = document.rows[1].metrics.at("total");
  // The first run of one lane is shorter, so that its rounds are those of other runs.
  for (auto* column : {&metric.round, &metric.process}) column->erase(column->begin(), column->begin() + 7);
  metric.samples.erase(metric.samples.begin(), metric.samples.begin() + 7);
  metric.at_ms.erase(metric.at_ms.begin(), metric.at_ms.begin() + 7);
  metric.outcome.erase(metric.outcome.begin(), metric.outcome.begin() + 7);
  metric.error.erase(metric.error.begin(), metric.error.begin() + 7);
  for (std::uint32_t i = 0; i < metric.round.size(); ++i) metric.round[i] = i;
  summarise(metric);
  document.rows[1].outcomes["ok"] = metric.samples.size();
  const Entry entry = compared(document).entries[0];
  EXPECT_EQ(entry.pairs, 6U);
  EXPECT_NEAR(entry.ratio.value(), 2, 0.1);
}

}  // namespace
}  // namespace tare::verdict
