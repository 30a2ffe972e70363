#include "lab/bench/common/worker_comparisons.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tare::bench
