#include "lab/verdict/samples.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace tare::verdict {
namespace {

std::vector<double> logs(const report::Metric& metric) {
  std::vector<double> values;
  for (const auto& sample : metric.samples) values.push_back(std::log(sample.value()));
  return values;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of values with those `lag` places further on.
double covariance(const std::vector<double>& a, const std::vector<double>& b, std::size_t lag = 0) {
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double sum = 0;
  for (std::size_t i = 0; i + lag < a.size(); ++i) sum += (a[i] - mean_a) * (b[i + lag] - mean_b);
  return sum / static_cast<double>(a.size() - lag);
}

TEST(MadeMetric, has_the_scatter_and_the_correlation_that_were_asked_for) {
  measure::Random random(1);
  const std::vector<double> values = logs(made_metric({100, 0.05, 0.3, 0}, 1, 50'000, random));
  EXPECT_NEAR(mean(values), std::log(100), 0.001);
  EXPECT_NEAR(std::sqrt(covariance(values, values)), 0.05, 0.001);
  EXPECT_NEAR(covariance(values, values, 1) / covariance(values, values), 0.3, 0.02);
}

TEST(MadeMetric, gives_each_process_a_level_of_its_own) {
  measure::Random random(1);
  const report::Metric metric = made_metric({100, 0, 0, 0.01}, 2000, 1, random);
  EXPECT_EQ(metric.process.back(), 1999U);
  EXPECT_NEAR(std::sqrt(covariance(logs(metric), logs(metric))), 0.01, 0.001);
}

TEST(MadeLanes, share_half_of_the_variance_and_only_that_part_is_correlated) {
  measure::Random random(1);
  const MadeLanes lanes = made_lanes({100, 0.05, 0.3, 0}, 1.05, 50'000, random);
  ASSERT_EQ(lanes.base.round, lanes.now.round);
  const std::vector<double> base = logs(lanes.base);
  const std::vector<double> now = logs(lanes.now);
  std::vector<double> ratio;
  for (std::size_t i = 0; i < base.size(); ++i) ratio.push_back(now[i] - base[i]);
  EXPECT_NEAR(mean(ratio), std::log(1.05), 0.001);
  EXPECT_NEAR(std::sqrt(covariance(ratio, ratio)), 0.05, 0.001);
  EXPECT_NEAR(std::sqrt(covariance(base, base)), 0.05, 0.001);
  EXPECT_NEAR(covariance(base, now) / covariance(base, base), 0.5, 0.02);
  EXPECT_NEAR(covariance(base, base, 1) / covariance(base, base), 0.15, 0.02);
  EXPECT_NEAR(covariance(ratio, ratio, 1) / covariance(ratio, ratio), 0, 0.02);
}

}  // namespace
}  // namespace tare::verdict
