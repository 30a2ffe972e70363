#include "registry_worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"

namespace tare::benchmarks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A driver in three lines of shell, which has only one answer: counters of admission_1.
driver::DriverCommand shell_driver(const std::string& counters) {
  const std::string hello = R"({\"id\":0,\"ok\":true,\"protocol\":\"tare.driver.v1\",\"name\":\"x\",)"
                            R"(\"version\":\"1\",\"engine\":\"sh\",\"pid\":1,\"rows\":[\"admission_<n>\"]})";
  const std::string sample = R"({\"id\":1,\"ok\":true,\"samples\":[{\"outcome\":\"ok\",\"ns\":{\"total\":5},)"
                             R"(\"bytes\":{\"rssStartBytes\":1,\"rssEndBytes\":2,\"processMaxRssBytes\":3},)"
                             R"(\"counters\":{)" +
                             counters + R"(}}]})";
  return {"shell",
          {"/bin/sh", "-c",
           "read -r l; echo \"" + hello + "\"; read -r l; echo \"" + sample +
               "\"; read -r l; echo '{\"id\":2,\"ok\":true}'"},
          {},
          {}};
}

std::string counters(int granted) {
  return R"(\"admissionCap\":)" + std::to_string(granted) +
         R"(,\"overflowRejected\":1,\"released\":1,\"doubleReleaseHarmless\":1,\"slotReused\":1)";
}

TEST(Worker, knows_its_peak_from_the_system_too) {
  const file::TemporaryFolder folder;
  const driver::Workload workload = workload_of("admission_1");
  Worker worker(shell_driver(counters(1)));
  const auto samples = worker.ask(workload, driver::make_params(workload, 1, folder.path()), 1);
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples.front().metric("total"), 5);
  EXPECT_GT(worker.leave(), 3);
}

TEST(Worker, a_wrong_counter_breaks_it) {
  const file::TemporaryFolder folder;
  const driver::Workload workload = workload_of("admission_1");
  Worker worker(shell_driver(counters(0)));
  try {
    worker.ask(workload, driver::make_params(workload, 1, folder.path()), 1);
    FAIL() << "it was taken";
  } catch (const Broken& broken) {
    EXPECT_THAT(broken.what(), HasSubstr("shell, admission_1: admissionCap: expected 1, got 0"));
  }
}

TEST(Worker, state_that_it_leaves_breaks_it) {
  const file::TemporaryFolder folder;
  file::write_atomically(folder.path() / "left", "");
  const driver::Workload workload = workload_of("admission_1");
  Worker worker(shell_driver(counters(1)));
  EXPECT_THROW(worker.ask(workload, driver::make_params(workload, 1, folder.path()), 1), Broken);
}

TEST(Interleave, every_lane_has_its_turn_in_every_round_in_a_balanced_order) {
  std::string order;
  const auto lane = [&order](char name) {
    return [&order, name] {
      order += name;
      return static_cast<double>(order.size());
    };
  };
  const auto figures = interleave({lane('a'), lane('b')}, {2, 2, std::chrono::hours(1)});
  EXPECT_TRUE(order == "abba" || order == "baab") << order;
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].size(), 2U);
  EXPECT_EQ(figures[0][0] + figures[0][1], figures[1][0] + figures[1][1]);
}

TEST(Interleave, the_fewest_rounds_are_made_however_long_they_take) {
  const auto figures = interleave({[] { return 1.0; }}, {3, 9, Nanoseconds(0)});
  EXPECT_THAT(figures, ElementsAre(ElementsAre(1.0, 1.0, 1.0)));
}

TEST(Compared, is_paired_worker_by_worker) {
  const Measurement measurement = compared({1, 2, 3, 4, 5, 6}, {10, 20, 30, 40, 50, 60});
  EXPECT_DOUBLE_EQ(measurement.ratio.value(), 0.1);
  ASSERT_TRUE(measurement.interval);
  EXPECT_NEAR(measurement.interval->at(1), 0.1, 1e-12);
  EXPECT_EQ(measurement.note, "medians of 6 workers a side");
}

TEST(Compared, what_stands_beside_it_is_said_with_its_interval_if_it_has_one) {
  EXPECT_EQ(beside("against X", compared({1, 1, 1}, {2, 2, 2}), "ms"), "against X (2.00 ms) 0.50×");
  EXPECT_EQ(beside("against X", compared({1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2}), "ms"),
            "against X (2.00 ms) 0.50× (0.50–0.50×)");
}

TEST(Compared, too_few_workers_have_no_interval) {
  EXPECT_FALSE(compared({1, 2, 3}, {1, 2, 3}).interval);
  EXPECT_FALSE(alone({1, 2, 3}).interval);
}

}  // namespace
}  // namespace tare::benchmarks
