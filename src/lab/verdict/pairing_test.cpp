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

/// Six runs that differ by far more than their samples do, of which the first one has so many.
report::Row runs_of(const std::string& target, double level, std::uint32_t first) {
  report::Metric metric;
  metric.unit = "ms";
  for (std::uint32_t run = 0; run < 6; ++run) {
    for (std::uint32_t i = 0; i < (run == 0 ? first : 10); ++i)
      add_sample(metric, level * (1 + run), static_cast<std::uint32_t>(metric.samples.size()), run);
  }
  report::Row row = made_row("readyz", target, metric);
  row.bench = "gateway";
  return row;
}

TEST(Pairing, runs_of_a_gateway_are_paired_though_each_took_another_number_of_samples) {
  const report::Document document = made_document({runs_of("node", 10, 10), runs_of("mine", 20, 3)});
  const Entry entry = compared(document).entries[0];
  EXPECT_EQ(entry.pairs, 6U);
  EXPECT_NEAR(entry.ratio.value(), 2, 1e-9);
  EXPECT_NEAR((*entry.interval)[0], 2, 1e-9);
  EXPECT_NEAR((*entry.interval)[1], 2, 1e-9);
}

}  // namespace
}  // namespace tare::verdict
