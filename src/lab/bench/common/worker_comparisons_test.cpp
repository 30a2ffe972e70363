#include "lab/bench/common/worker_comparisons.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/report/metric.hpp"

namespace tare::bench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A row of some workers with ten samples each.
report::Row row(const std::string& target, std::uint32_t workers,
                const std::function<double(std::uint32_t worker, std::uint32_t i)>& value) {
  report::Row row;
  row.bench = "agents";
  row.row = "admission_8";
  row.target = target;
  for (const char* name : {"total", "rssEndBytes"}) {
    report::Metric& metric = row.metrics[name];
    metric.unit = std::string(name) == "total" ? "ms" : "bytes";
    for (std::uint32_t k = 0; k < workers; ++k) {
      for (std::uint32_t i = 0; i < 10; ++i) {
        metric.samples.emplace_back(value(k, i));
        metric.round.push_back(k * 10 + i);
        metric.process.push_back(k);
        metric.at_ms.push_back(0);
        metric.outcome.push_back(report::Outcome::ok);
        metric.error.emplace_back();
      }
    }
  }
  return row;
}

report::Document lanes(std::uint32_t workers, double ratio) {
  report::Document document;
  document.targets.resize(2);
  document.targets[0].id = "embedded";
  document.targets[1].id = "node";
  document.targets[1].kind = report::Lane::reference;
  // Workers differ by far more than their samples do, and each lane's in its own way.
  document.rows = {
      row("embedded", workers, [&](auto k, auto i) { return ratio * (10 + k % 3) * (1 + 0.001 * i); }),
      row("node", workers, [](auto k, auto i) { return (10 + k % 3) * (1 + 0.001 * i); })};
  return document;
}

TEST(Comparisons, six_workers_a_lane_are_paired_by_their_medians) {
  const auto all = worker_comparisons(lanes(6, 0.5), 1);
  ASSERT_EQ(all.size(), 2U);  // times only
  EXPECT_EQ(all[0].kind, report::ComparisonKind::emulation);
  EXPECT_EQ(all[0].subject, "embedded");
  EXPECT_EQ(all[0].reference, "node");
  EXPECT_EQ(all[0].pairs, 6U);
  EXPECT_NEAR(*all[0].ratio, 0.5, 1e-12);
  EXPECT_NEAR((*all[0].interval)[1], 0.5, 1e-12);
  EXPECT_THAT(all[0].method, HasSubstr("p50 of each worker; "));
}

TEST(Comparisons, fewer_workers_are_compared_unpaired_and_the_method_says_so) {
  const auto all = worker_comparisons(lanes(5, 0.5), 1);
  EXPECT_THAT(all[0].method, HasSubstr("what is odd about a worker is in it"));
  EXPECT_EQ(all[0].pairs, 50U);  // samples
  EXPECT_NEAR(*all[0].ratio, 0.5, 1e-12);
  EXPECT_LT((*all[0].interval)[0], 0.5);  // it sees that workers differ
}

TEST(Comparisons, a_tail_takes_enough_samples_of_each_worker) {
  const auto all = worker_comparisons(lanes(6, 0.5), 1);
  EXPECT_EQ(all[1].quantile, "p95");
  EXPECT_THAT(all[1].method, HasSubstr("as if each were by itself"));
}

TEST(Comparisons, without_the_reference_there_are_none) {
  report::Document document = lanes(6, 0.5);
  document.targets[1].kind = report::Lane::subject;
  EXPECT_THAT(worker_comparisons(document, 1), IsEmpty());
  document = lanes(6, 0.5);
  for (auto& outcome : document.rows[1].metrics["total"].outcome) outcome = report::Outcome::failed;
  EXPECT_THAT(worker_comparisons(document, 1), IsEmpty());
}

/// The same lanes as runs of gateways.
report::Document gateways(std::uint32_t runs) {
  report::Document document = lanes(runs, 0.5);
  document.targets[1].id = "openclaw";
  document.rows[1].target = "openclaw";
  for (report::Row& row : document.rows) {
    row.bench = "gateway";
    row.row = "turns";
    for (auto& [name, metric] : row.metrics) metric.summary = report::summary_of(metric);
  }
  return document;
}

TEST(Comparisons, six_runs_of_a_gateway_are_paired) {
  const auto all = worker_comparisons(gateways(6), 1, {"total"});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].reference, "openclaw");
  EXPECT_EQ(all[0].pairs, 6U);
  EXPECT_NEAR(*all[0].ratio, 0.5, 1e-12);
  EXPECT_THAT(all[0].method, HasSubstr("p50 of each run; "));
}

TEST(Comparisons, one_run_of_a_gateway_has_a_ratio_and_no_interval) {
  const auto all = worker_comparisons(gateways(1), 1, {"total"});
  EXPECT_NEAR(*all[0].ratio, 0.5, 1e-12);
  EXPECT_FALSE(all[0].interval);
  EXPECT_FALSE(all[0].difference_interval);
  EXPECT_THAT(all[0].reason.value_or(""),
              HasSubstr("one run; with six they are compared as pairs (--runs 6)"));
  EXPECT_TRUE(worker_comparisons(gateways(2), 1, {"total"})[0].interval);
  EXPECT_TRUE(worker_comparisons(lanes(1, 0.5), 1)[0].interval);  // a worker of another bench has one
}

TEST(Comparisons, one_value_a_run_is_compared_from_one_run_on) {
  for (const std::uint32_t runs : {1U, 5U, 6U}) {
    report::Document document = gateways(runs);
    for (report::Row& row : document.rows) {
      report::Metric& metric = row.metrics["turns_per_s"];
      metric.unit = "turns/s";
      metric.better = report::Better::higher;
      for (std::uint32_t k = 0; k < runs; ++k) {
        metric.samples.emplace_back(row.target == "embedded" ? 4000 + k : 8 + k % 2);
        metric.round.push_back(k);
        metric.process.push_back(k);
        metric.at_ms.push_back(0);
        metric.outcome.push_back(report::Outcome::ok);
        metric.error.emplace_back();
      }
      metric.summary = report::summary_of(metric);
    }
    const auto all = worker_comparisons(document, 1, {"turns_per_s"});
    ASSERT_EQ(all.size(), 2U);
    EXPECT_GT(*all[0].ratio, 400);
    EXPECT_EQ(all[0].unit, "turns/s");
    EXPECT_EQ(all[0].pairs, runs);
    EXPECT_EQ(all[0].interval.has_value(), runs >= 6);
    EXPECT_EQ(all[0].reason.has_value(), runs < 6);
    EXPECT_TRUE(all[1].reason);  // there is no p95 of so few
  }
}

TEST(Comparisons, samples_that_were_not_all_kept_are_compared_by_their_histogram) {
  report::Document document = gateways(6);
  report::Metric& metric = document.rows[0].metrics.at("total");
  measure::Histogram histogram;
  histogram.record(std::chrono::milliseconds(22), 1000);
  metric.histogram = histogram.data();
  metric.summary = report::summary_of(metric);
  const auto all = worker_comparisons(document, 1, {"total"});
  EXPECT_NEAR(*all[0].ratio, 2, 0.01);
  EXPECT_FALSE(all[0].interval);
  EXPECT_THAT(all[0].reason.value_or(""), HasSubstr("more samples were taken than are kept"));
  EXPECT_EQ(all[1].quantile, "p95");
  EXPECT_TRUE(all[1].ratio);
}

TEST(Comparisons, the_note_on_too_few_speaks_of_runs_where_those_are_repeated) {
  report::Document document = gateways(1);
  document.comparisons = worker_comparisons(document, 1, {"total"});
  EXPECT_EQ(
      unpaired_note(document, 1, "gateway").value().text,
      "one run of each lane: what is odd about a run cannot be told from what is odd about its gateway; 6 "
      "can (--runs)");
  EXPECT_FALSE(unpaired_note(document, 6, "gateway"));
  document = lanes(2, 0.5);
  document.comparisons = worker_comparisons(document, 1);
  EXPECT_THAT(unpaired_note(document, 2, "registry").value().text,
              HasSubstr("2 workers of each row and lane: what is odd about a worker"));
}

}  // namespace
}  // namespace tare::bench
