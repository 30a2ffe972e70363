#include "lab/measure/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/measure/random.hpp"

namespace tare::measure {
namespace {

using namespace std::chrono_literals;

/// Durations over the whole range, as many in each decade.
std::vector<double> durations(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(n);
  for (double& value : values) value = std::floor(std::exp(random.uniform() * std::log(3.6e12)));
  return values;
}

Histogram of(std::span<const double> values) {
  Histogram histogram;
  for (const double value : values) histogram.record(Nanoseconds(static_cast<std::int64_t>(value)));
  return histogram;
}

TEST(Histogram, without_samples_there_is_no_value) {
  const Histogram empty;
  EXPECT_EQ(empty.count(), 0u);
  EXPECT_FALSE(empty.quantile(0.5));
  EXPECT_FALSE(empty.min());
  EXPECT_FALSE(empty.max());
  EXPECT_FALSE(empty.mean());
  EXPECT_EQ(json::line(empty.data()),
            R"({"count":0,"belowRange":0,"aboveRange":0,"minNs":null,"maxNs":null,"counts":[]})");
}

TEST(Histogram, every_duration_keeps_three_significant_digits) {
  for (const double value : durations(5000, 1)) {
    Histogram histogram;
    const Nanoseconds duration(static_cast<std::int64_t>(value));
    histogram.record(duration);
    histogram.record(1h);  // so that the maximum does not give the answer away
    const auto seen = histogram.quantile(0.5)->count();
    ASSERT_GE(seen, duration.count());
    ASSERT_LE(static_cast<double>(seen - duration.count()), value / 1000);
  }
}

TEST(Histogram, short_durations_are_exact) {
  for (std::int64_t ns = 1; ns < 2048; ++ns) {
    Histogram histogram;
    histogram.record(Nanoseconds(ns));
    histogram.record(1h);
    ASSERT_EQ(histogram.quantile(0.5)->count(), ns);
  }
}

TEST(Histogram, quantiles_are_those_of_the_sorted_samples_up_to_a_bucket) {
  auto values = durations(3001, 2);
  const Histogram histogram = of(values);
  std::ranges::sort(values);
  for (const double q : {0.0, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
    const double exact = quantile_of_sorted(values, q);
    const auto seen = static_cast<double>(histogram.quantile(q)->count());
    EXPECT_GE(seen, exact);
    EXPECT_LE(seen, exact * 1.001 + 1);
  }
  EXPECT_EQ(histogram.min()->count(), static_cast<std::int64_t>(values.front()));
  EXPECT_EQ(histogram.max()->count(), static_cast<std::int64_t>(values.back()));
  EXPECT_EQ(histogram.quantile(1.0), histogram.max());
}

TEST(Histogram, a_quantile_is_never_above_the_maximum_nor_below_a_lower_quantile) {
  for (std::size_t n = 1; n < 200; ++n) {
    const Histogram histogram = of(durations(n, n));
    Nanoseconds previous = *histogram.min();
    for (const double q : {0.0, 0.5, 0.9, 0.95, 0.99, 1.0}) {
      ASSERT_LE(previous, *histogram.quantile(q));
      previous = *histogram.quantile(q);
    }
    ASSERT_LE(previous, *histogram.max());
    ASSERT_GE(*histogram.mean(), *histogram.min());
    ASSERT_LE(*histogram.mean(), *histogram.max());
  }
}

TEST(Histogram, one_sample_is_all_quantiles) {
  Histogram histogram;
  histogram.record(123456789ns);
  for (const double q : {0.0, 0.5, 0.99, 1.0}) EXPECT_EQ(histogram.quantile(q), 123456789ns);
  EXPECT_EQ(histogram.mean(), 123456789ns);
}

TEST(Histogram, merge_is_concatenation) {
  const auto values = durations(1000, 3);
  for (const std::size_t cut : {0, 1, 500, 1000}) {
    Histogram left = of(std::span(values).first(cut));
    left.merge(of(std::span(values).subspan(cut)));
    EXPECT_EQ(left, of(values));
  }
}

TEST(Histogram, durations_out_of_range_are_kept_at_its_end_and_counted_apart) {
  Histogram histogram;
  histogram.record(0ns);
  histogram.record(-5ns);
  histogram.record(2h, 3);
  histogram.record(1ms);
  EXPECT_EQ(histogram.count(), 6u);
  EXPECT_EQ(histogram.below_range(), 2u);
  EXPECT_EQ(histogram.above_range(), 3u);
  EXPECT_EQ(histogram.min(), 1ns);
  EXPECT_EQ(histogram.max(), 1h);
  EXPECT_EQ(histogram.quantile(0.99), 1h);
}

TEST(Histogram, survives_its_document) {
  Histogram histogram = of(durations(500, 4));
  histogram.record(0ns);
  histogram.record(3h);
  const std::string text = json::line(histogram.data());
  const auto back = Histogram::from(json::read<HistogramData>(json::parse(text, "h"), "h"));
  EXPECT_EQ(back, histogram);
  EXPECT_EQ(back.quantile(0.95), histogram.quantile(0.95));
  EXPECT_EQ(Histogram::from({}), Histogram());
}

TEST(Histogram, data_that_contradict_themselves_are_refused) {
  const HistogramData good{2, 0, 0, 5, 9000, {{5, 1}, {9003, 1}}};
  auto bucket = good;
  bucket.counts[1][0] = of(std::vector<double>{9000, 1e9}).data().counts[0][0];
  EXPECT_NO_THROW(Histogram::from(bucket));
  const auto refused = [&](auto change) {
    HistogramData data = bucket;
    change(data);
    EXPECT_THROW(Histogram::from(data), Error);
  };
  refused([](auto& d) { d.count = 3; });
  refused([](auto& d) { d.count = 1; });
  refused([](auto& d) { d.min_ns = std::nullopt; });
  refused([](auto& d) { d.min_ns = 6; });
  refused([](auto& d) { d.max_ns = 10; });
  refused([](auto& d) { d.below_range = 3; });
  refused([](auto& d) { d.counts[0][1] = 0; });
  refused([](auto& d) { d.counts[0][0] = 0; });
  refused([](auto& d) { d.counts[1][0] -= 1; });
  refused([](auto& d) { d.counts[1][0] = ~std::uint64_t{0}; });
  refused([](auto& d) { std::swap(d.counts[0], d.counts[1]); });
}

TEST(Histogram, every_rank_is_the_sample_that_stands_there) {
  const Histogram histogram = of(std::vector<double>{5, 7, 7, 2000});
  EXPECT_EQ(histogram.at_rank(0), 5ns);
  EXPECT_EQ(histogram.at_rank(1), 7ns);
  EXPECT_EQ(histogram.at_rank(2), 7ns);
  EXPECT_EQ(histogram.at_rank(3), 2000ns);
  EXPECT_EQ(histogram.at_rank(4), std::nullopt);
}

}  // namespace
}  // namespace tare::measure
