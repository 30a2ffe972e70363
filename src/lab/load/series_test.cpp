#include "lab/load/series.hpp"

#include <gtest/gtest.h>

namespace tare::load {
namespace {

using namespace std::chrono_literals;

constexpr Instant zero{};

/// A request that was due at `due`, sent so much later, and answered so long after that.
Sample sample(Nanoseconds due, Nanoseconds late, Nanoseconds service, Outcome outcome = Outcome::ok) {
  return {zero + due, zero + due + late, zero + due + late + service, outcome};
}

void add(Series& series, const Sample& it) {
  series.due();
  series.add(it);
}

TEST(Series, without_requests_there_is_no_value) {
  const Series series;
  EXPECT_EQ(series.ended(), 0U);
  EXPECT_FALSE(series.latency().quantile(0.5));
  EXPECT_FALSE(series.start_error().max());
}

TEST(Series, latency_counts_from_the_schedule_and_service_from_the_start) {
  Series series;
  add(series, sample(100ms, 300us, 700us));
  EXPECT_EQ(series.latency().max(), 1ms);
  EXPECT_EQ(series.service().max(), 700us);
  EXPECT_EQ(series.start_error().max(), 300us);
  EXPECT_EQ(series.late_starts(), 0U);
}

TEST(Series, a_start_is_late_beyond_a_millisecond) {
  Series series;
  add(series, sample(0ms, 1ms, 1ms));
  EXPECT_EQ(series.late_starts(), 0U);
  add(series, sample(0ms, 1ms + 1ns, 1ms, Outcome::timeout));
  EXPECT_EQ(series.late_starts(), 1U);
  EXPECT_EQ(series.start_error().count(), 2U);
}

TEST(Series, a_failure_is_never_in_the_distribution_of_those_that_are_ok) {
  Series series;
  add(series, sample(0ms, 0ms, 2ms));
  add(series, sample(10ms, 0ms, 900ms, Outcome::failed));
  add(series, sample(20ms, 0ms, 20s, Outcome::timeout));
  add(series, sample(30ms, 0ms, 5s, Outcome::censored));
  EXPECT_EQ(series.latency().count(), 1U);
  EXPECT_EQ(series.latency().max(), 2ms);
  EXPECT_EQ(series.service().count(), 1U);
  EXPECT_EQ(series.count(Outcome::ok), 1U);
  EXPECT_EQ(series.count(Outcome::failed), 1U);
  EXPECT_EQ(series.count(Outcome::timeout), 1U);
  EXPECT_EQ(series.count(Outcome::censored), 1U);
  EXPECT_EQ(series.ended(), 4U);
  EXPECT_EQ(series.samples().size(), 4U);
}

/// A request that takes 500 ms at a cadence of 1 ms is one sample, not one and 499 that nobody sent.
TEST(Series, nothing_is_filled_in_behind_a_slow_request) {
  Series series;
  for (int i = 0; i < 9; ++i) add(series, sample(1ms * i, 0ms, 100us));
  add(series, sample(9ms, 0ms, 500ms));
  EXPECT_EQ(series.latency().count(), 10U);
  EXPECT_EQ(series.ended(), 10U);
  EXPECT_EQ(series.due_starts(), 10U);
  EXPECT_EQ(series.latency().data().counts.back(), (std::array<std::uint64_t, 2>{500'170'751, 1}));
}

TEST(Series, beyond_the_cap_the_histogram_goes_on) {
  Series series(3);
  for (int i = 1; i <= 100; ++i) add(series, sample(1ms * i, 0ms, 1us * i));
  ASSERT_EQ(series.samples().size(), 3U);
  EXPECT_EQ(series.samples()[2].service(), 3us);
  EXPECT_EQ(series.latency().count(), 100U);
  EXPECT_EQ(series.latency().max(), 100us);
  EXPECT_EQ(series.ended(), 100U);
}

}  // namespace
}  // namespace tare::load
