#include "lab/measure/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "lab/measure/random.hpp"

namespace tare::measure {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<double> long_tail(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> samples(n);
  for (double& sample : samples) sample = 10 + 1 / (0.01 + random.uniform());  // a long right tail
  return samples;
}

/// Every figure that a shuffle must not change.
std::vector<std::optional<double>> order_statistics(const Summary& s) {
  std::vector<std::optional<double>> all{s.min, s.p50, s.p90, s.p95, s.p99, s.max};
  for (const auto& interval : {s.p50_interval, s.p90_interval, s.p95_interval, s.p99_interval}) {
    all.push_back(interval ? std::optional((*interval)[0]) : std::nullopt);
    all.push_back(interval ? std::optional((*interval)[1]) : std::nullopt);
  }
  return all;
}

/// Equal counts, and a share that differs at most by the order of summation.
void expect_same_outliers(const std::optional<Outliers>& actual, const std::optional<Outliers>& expected) {
  ASSERT_EQ(actual.has_value(), expected.has_value());
  if (!actual) return;
  EXPECT_EQ(actual->count, expected->count);
  EXPECT_EQ(actual->mild, expected->mild);
  EXPECT_EQ(actual->severe, expected->severe);
  EXPECT_NEAR(*actual->time_share, *expected->time_share, 1e-12);
}

TEST(Summary, has_every_figure_of_a_thousand_samples) {
  auto samples = long_tail(1000, 1);
  const Summary summary = summarise(samples);
  std::ranges::sort(samples);
  EXPECT_EQ(summary.count, 1000u);
  EXPECT_EQ(summary.p50, samples[499]);
  EXPECT_EQ(summary.p90, samples[899]);
  EXPECT_EQ(summary.p95, samples[949]);
  EXPECT_EQ(summary.p99, samples[989]);
  EXPECT_EQ(summary.min, samples.front());
  EXPECT_EQ(summary.max, samples.back());
  for (const double q : {0.5, 0.9, 0.95, 0.99}) ASSERT_TRUE(quantile_interval(samples, q));
  EXPECT_EQ(summary.p50_interval, quantile_interval(samples, 0.5));
  EXPECT_EQ(summary.p90_interval, quantile_interval(samples, 0.9));
  EXPECT_EQ(summary.p95_interval, quantile_interval(samples, 0.95));
  EXPECT_EQ(summary.p99_interval, quantile_interval(samples, 0.99));
  expect_same_outliers(summary.outliers, outliers_of_sorted(samples));
  EXPECT_GT(summary.outliers->count, 0u);
  EXPECT_NEAR(*summary.lag1, 0, 0.1);
  EXPECT_GT(*summary.effective_n, 800);
  EXPECT_EQ(summary.below_resolution, 0u);
  EXPECT_THAT(summary.notes, IsEmpty());
}

TEST(Summary, selecting_ranks_finds_what_sorting_finds) {
  for (const std::size_t n : {1, 2, 5, 255, 256, 257, 1000, 5000}) {
    auto samples = long_tail(n, n);
    for (std::size_t i = 0; i < n; i += 3) samples[i] = std::floor(samples[i]);  // ties
    const Summary summary = summarise(samples);
    std::ranges::sort(samples);
    EXPECT_EQ(summary.p50, quantile_of_sorted(samples, 0.5)) << n;
    EXPECT_EQ(summary.p99, quantile_if_carried(samples, 0.99)) << n;
    EXPECT_EQ(summary.p95_interval, quantile_interval(samples, 0.95)) << n;
    expect_same_outliers(summary.outliers, outliers_of_sorted(samples));
  }
}

TEST(Summary, does_not_depend_on_the_order_of_samples_but_for_their_dependence) {
  auto samples = long_tail(400, 2);
  const Summary before = summarise(samples);
  Random(3).shuffle(std::span(samples));
  const Summary after = summarise(samples);
  EXPECT_EQ(order_statistics(before), order_statistics(after));
  EXPECT_NEAR(*before.mean, *after.mean, 1e-9);
  EXPECT_NEAR(*before.stddev, *after.stddev, 1e-9);
}

TEST(Summary, scales_with_the_unit) {
  auto samples = long_tail(400, 4);
  const Summary seconds = summarise(samples);
  for (double& sample : samples) sample *= 1024;
  const Summary scaled = summarise(samples);
  const auto expected = order_statistics(seconds);
  const auto actual = order_statistics(scaled);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i].has_value(), actual[i].has_value());
    if (!expected[i]) continue;
    EXPECT_DOUBLE_EQ(*actual[i], *expected[i] * 1024);
  }
  EXPECT_NEAR(*scaled.stddev, *seconds.stddev * 1024, 1e-6);
  EXPECT_NEAR(*scaled.lag1, *seconds.lag1, 1e-12);
}

TEST(Summary, percentiles_never_cross_nor_leave_the_extremes_at_any_n) {
  for (std::size_t n = 1; n <= 450; ++n) {
    const Summary s = summarise(long_tail(n, n));
    double previous = *s.min;
    for (const auto& point : {s.p50, s.p90, s.p95, s.p99, s.max}) {
      if (!point) continue;
      ASSERT_LE(previous, *point) << n;
      previous = *point;
    }
    ASSERT_LE(*s.min, *s.mean);
    ASSERT_LE(*s.mean, *s.max);
    for (const auto& [point, interval] :
         {std::pair(s.p50, s.p50_interval), std::pair(s.p90, s.p90_interval),
          std::pair(s.p95, s.p95_interval), std::pair(s.p99, s.p99_interval)}) {
      if (!interval) continue;
      ASSERT_LE((*interval)[0], *point) << n;
      ASSERT_GE((*interval)[1], *point) << n;
    }
  }
}

TEST(Summary, nothing_is_trimmed_before_the_percentiles) {
  std::vector<double> samples(100);
  std::iota(samples.begin(), samples.end(), 1.0);
  samples.back() = 1e6;
  const Summary summary = summarise(samples);
  EXPECT_EQ(summary.p99, 99);
  EXPECT_EQ(summary.max, 1e6);
  EXPECT_EQ(summary.count, 100u);
  EXPECT_EQ(summary.outliers->severe, 1u);
}

TEST(Summary, says_which_figures_so_few_samples_do_not_carry) {
  EXPECT_THAT(summarise(long_tail(5, 1)).notes,
              ElementsAre("p50 interval n/a (n<6)", "p90 n/a (n<10)", "p95 n/a (n<20)", "p99 n/a (n<100)"));
  const Summary twenty = summarise(long_tail(20, 1));
  EXPECT_TRUE(twenty.p95);
  EXPECT_FALSE(twenty.p95_interval);
  EXPECT_THAT(twenty.notes, Contains("p95 interval n/a (n<72)"));
  EXPECT_THAT(summarise(long_tail(200, 1)).notes, ElementsAre("p99 interval n/a (n<368)"));
}

TEST(Summary, of_nothing_is_empty_and_not_zero) {
  const Summary summary = summarise(std::vector<double>{});
  EXPECT_EQ(summary.count, 0u);
  EXPECT_THAT(order_statistics(summary), testing::Each(std::nullopt));
  EXPECT_FALSE(summary.mean);
  EXPECT_FALSE(summary.stddev);
  EXPECT_FALSE(summary.effective_n);
  EXPECT_FALSE(summary.outliers);
  EXPECT_THAT(summary.notes, ElementsAre("no samples"));
}

TEST(Summary, of_one_sample_or_without_variance_is_legal) {
  const Summary one = summarise(std::vector<double>{2.5});
  EXPECT_EQ(one.p50, 2.5);
  EXPECT_EQ(one.stddev, 0);
  EXPECT_FALSE(one.lag1);
  const Summary same = summarise(std::vector<double>(400, 9.9));
  EXPECT_EQ(same.mean, 9.9);
  EXPECT_EQ(same.stddev, 0);
  EXPECT_EQ(same.p99, 9.9);
  EXPECT_EQ(same.p99_interval, (Interval{9.9, 9.9}));
  EXPECT_FALSE(same.lag1);
  EXPECT_FALSE(same.effective_n);
  EXPECT_EQ(same.outliers->count, 0u);
}

TEST(Summary, counts_samples_below_the_resolution_of_the_clock_and_says_so) {
  const Summary summary = summarise(std::vector<double>{0, 1, 2, -1, 3, 4, 5});
  EXPECT_EQ(summary.below_resolution, 2u);
  EXPECT_EQ(summary.min, -1);
  EXPECT_THAT(summary.notes, Contains("2 of 7 samples below clock resolution (≤ 0)"));
}

TEST(Summary, warns_of_samples_that_depend_on_each_other) {
  std::vector<double> samples(100);
  std::iota(samples.begin(), samples.end(), 1.0);
  const Summary summary = summarise(samples);
  EXPECT_GT(*summary.lag1, 0.9);
  EXPECT_LT(*summary.effective_n, 5);
  EXPECT_THAT(summary.notes, Contains("lag-1 0.97: samples depend on each other"));
  EXPECT_THAT(summarise(long_tail(100, 1)).notes, Not(Contains(testing::HasSubstr("lag-1"))));
}

TEST(Summary, refuses_a_sample_that_is_not_finite) {
  EXPECT_THROW(summarise(std::vector<double>{1, std::numeric_limits<double>::quiet_NaN()}), Error);
  EXPECT_THROW(summarise(std::vector<double>{1, std::numeric_limits<double>::infinity()}), Error);
}

TEST(Summary, json_has_null_for_what_is_missing_and_pairs_for_intervals) {
  const std::string empty = json::line(summarise(std::vector<double>{}));
  EXPECT_EQ(empty,
            R"({"count":0,"min":null,"mean":null,"stddev":null,"p50":null,"p90":null,"p95":null,"p99":null,)"
            R"("max":null,"p50Interval":null,"p90Interval":null,"p95Interval":null,"p99Interval":null,)"
            R"("lag1":null,"effectiveN":null,"outliers":null,"belowResolution":0,"notes":["no samples"]})");
  const Summary summary = summarise(std::vector<double>{1, 2, 3, 4, 5, 6});
  const std::string text = json::line(summary);
  EXPECT_NE(text.find(R"("p50Interval":[1,6])"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("outliers":{"count":0,"mild":0,"severe":0,"timeShare":0})"), std::string::npos)
      << text;
  const auto back = json::read<Summary>(json::parse(text, "summary"), "summary");
  EXPECT_EQ(json::line(back), text);
}

/// The same samples, in ms, counted and kept.
std::pair<Histogram, std::vector<double>> counted_and_kept(std::size_t n) {
  Histogram histogram;
  std::vector<double> kept;
  for (const double sample : long_tail(n, 5)) {
    const Nanoseconds ns(static_cast<std::int64_t>(sample * 1e6));
    histogram.record(ns);
    kept.push_back(static_cast<double>(ns.count()) / 1e6);
  }
  return {histogram, kept};
}

TEST(Summary, of_a_histogram_is_that_of_its_samples_to_three_digits) {
  const auto [histogram, kept] = counted_and_kept(5000);
  const Summary counted = summarise(histogram, 1e6, 100);
  const Summary exact = summarise(kept);
  EXPECT_EQ(counted.count, 5000U);
  EXPECT_EQ(counted.min, exact.min);
  EXPECT_EQ(counted.max, exact.max);
  const auto near = [](const std::optional<double>& actual, const std::optional<double>& expected) {
    EXPECT_NEAR(*actual, *expected, *expected * 0.001);
  };
  near(counted.mean, exact.mean);
  EXPECT_NEAR(*counted.stddev, *exact.stddev, *exact.stddev * 0.01);
  const auto figures = order_statistics(counted);
  for (std::size_t i = 0; i < figures.size(); ++i) near(figures[i], order_statistics(exact)[i]);
  EXPECT_NEAR(static_cast<double>(counted.outliers->count), static_cast<double>(exact.outliers->count), 25);
}

TEST(Summary, of_a_histogram_says_so_and_has_nothing_that_needs_an_order) {
  const Summary summary = summarise(counted_and_kept(5000).first, 1e6, 100);
  EXPECT_EQ(summary.lag1, std::nullopt);
  EXPECT_EQ(summary.effective_n, std::nullopt);
  EXPECT_THAT(summary.notes,
              ElementsAre("quantiles from a histogram (3 digits) of 5,000 samples, of which 100 are kept",
                          "lag-1 n/a (a histogram keeps no order)"));
}

TEST(Summary, of_a_histogram_of_few_samples_has_no_tail_either) {
  Histogram histogram;
  EXPECT_EQ(summarise(histogram, 1e6, 0).p50, std::nullopt);
  for (int i = 1; i <= 10; ++i) histogram.record(std::chrono::milliseconds(i));
  histogram.record(Nanoseconds(0));
  const Summary summary = summarise(histogram, 1e6, 0);
  EXPECT_EQ(summary.p95, std::nullopt);
  EXPECT_TRUE(summary.p50_interval);
  EXPECT_EQ(summary.below_resolution, 1U);
  EXPECT_THAT(summary.notes, Contains("p95 n/a (n<20)"));
  EXPECT_THAT(summary.notes, Contains("1 of 11 samples below clock resolution (≤ 0)"));
}

}  // namespace
}  // namespace tare::measure
