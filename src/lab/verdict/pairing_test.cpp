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

}  // namespace
}  // namespace tare::verdict
