#include "lab/verdict/effect.hpp"

#include <gtest/gtest.h>

#include "lab/verdict/samples.hpp"

namespace tare::verdict {
namespace {

/// `processes` processes with these samples each.
Series series(const std::vector<double>& samples, std::uint32_t processes = 1) {
  Series made{"ms", {}, {}, {}};
  for (std::uint32_t process = 0; process < processes; ++process) {
    for (const double sample : samples) {
      made.round.push_back(static_cast<std::uint32_t>(made.samples.size()));
      made.process.push_back(process);
      made.samples.push_back(sample);
    }
  }
  return made;
}

Question paired(double quantile = 0.5, double tolerance = 0) {
  return {quantile, Pairing::paired, tolerance, 42};
}

Question unpaired(double quantile = 0.5, double tolerance = 0) {
  return {quantile, Pairing::unpaired, tolerance, 42};
}

TEST(Effect, good_samples_only_are_compared) {
  report::Metric metric;
  metric.unit = "ms";
  metric.samples = {1.0, std::nullopt, 3.0};
  metric.round = {0, 1, 2};
  metric.process = {0, 0, 0};
  metric.outcome = {report::Outcome::ok, report::Outcome::timeout, report::Outcome::failed};
  EXPECT_EQ(series_of(metric).samples, std::vector<double>{1.0});
}

TEST(Effect, paired_rounds_are_the_median_log_ratio_with_its_sign_interval) {
  const Effect effect =
      effect_of(series({10, 20, 30, 40, 50, 60}), series({11, 22, 33, 44, 55, 66}), paired());
  EXPECT_NEAR(effect.ratio.value(), 1.1, 1e-12);
  ASSERT_TRUE(effect.interval);
  EXPECT_NEAR((*effect.interval)[0], 1.1, 1e-12);
  EXPECT_NEAR(effect.p.value(), 2.0 / 64, 1e-12);
  EXPECT_EQ(effect.pairs, 6U);
  EXPECT_DOUBLE_EQ(effect.base.value(), 30);
  EXPECT_DOUBLE_EQ(effect.now.value(), 33);
}

TEST(Effect, pairs_are_found_by_round) {
  Series now = series({11, 22, 33, 44, 55, 66, 77});
  now.round = {0, 1, 2, 3, 4, 5, 99};
  EXPECT_EQ(effect_of(series({10, 20, 30, 40, 50, 60, 70}), now, paired()).pairs, 6U);
}

TEST(Effect, six_processes_are_paired_themselves) {
  // Within a process all rounds say the same; five of six processes say faster, so it is not sure.
  Series base = series({100, 100, 100}, 6);
  Series now = series({90, 90, 90}, 6);
  for (std::size_t i = 15; i < 18; ++i) now.samples[i] = 110;
  const Effect effect = effect_of(base, now, paired());
  EXPECT_EQ(effect.pairs, 6U);
  EXPECT_NEAR(effect.ratio.value(), 0.9, 1e-12);
  EXPECT_NEAR(effect.p.value(), 2 * 7.0 / 64, 1e-12);
  EXPECT_DOUBLE_EQ(effect.difference.value(), -10);
  EXPECT_DOUBLE_EQ((*effect.difference_interval)[1], 10);
}

TEST(Effect, a_tail_of_six_processes_is_that_of_each_of_them) {
  std::vector<double> low;
  for (int i = 0; i < 20; ++i) low.push_back(100 + i);
  std::vector<double> high = low;
  high[18] = high[19] = 236;  // the p95 of 20 is the 19th
  const Effect effect = effect_of(series(low, 6), series(high, 6), paired(0.95));
  EXPECT_EQ(effect.pairs, 6U);
  EXPECT_NEAR(effect.ratio.value(), 236.0 / 118, 1e-12);
  EXPECT_NEAR(effect.p.value(), 2.0 / 64, 1e-12);
  // Five processes, or processes of 19 rounds, are too few: then it is all rounds together.
  EXPECT_EQ(effect_of(series(low, 5), series(high, 5), paired(0.95)).pairs, 100U);
}

TEST(Effect, within_the_tolerance_nothing_is_significant) {
  const Series base = series({10, 20, 30, 40, 50, 60});
  EXPECT_EQ(effect_of(base, series({10.2, 20.4, 30.6, 40.8, 51, 61.2}), paired(0.5, 0.05)).p, 1.0);
  EXPECT_NEAR(effect_of(base, series({11, 22, 33, 44, 55, 66}), paired(0.5, 0.05)).p.value(), 2.0 / 64,
              1e-12);
  EXPECT_EQ(effect_of(series({10}, 4), series({10.2}, 4), unpaired(0.5, 0.05)).p, 1.0);
  // Six rounds are faster, but only four of them by more than 5 %: 2 · P(B(6, ½) ≥ 4) = 44/64.
  const Effect faster = effect_of(series({100, 100, 100, 100, 100, 100}), series({90, 92, 94, 94.5, 96, 97}),
                                  paired(0.5, 0.05));
  EXPECT_NEAR(faster.p.value(), 44.0 / 64, 1e-12);
}

TEST(Effect, unpaired_compares_the_medians_of_processes) {
  Series base = series({100, 101, 102}, 4);
  Series now = series({200, 201, 202}, 4);
  const Effect effect = effect_of(base, now, unpaired());
  EXPECT_EQ(effect.pairs, 4U);
  EXPECT_NEAR(effect.ratio.value(), 201.0 / 101, 1e-12);
  EXPECT_DOUBLE_EQ(effect.difference.value(), 100);
  EXPECT_NEAR(effect.p.value(), 2.0 / 70, 1e-12);
  EXPECT_DOUBLE_EQ(effect.delta.value(), 1);
}

TEST(Effect, three_processes_show_the_change_but_no_interval) {
  const Effect effect = effect_of(series({100}, 3), series({150}, 3), unpaired());
  EXPECT_DOUBLE_EQ(effect.ratio.value(), 1.5);
  EXPECT_DOUBLE_EQ(effect.difference.value(), 50);
  EXPECT_FALSE(effect.interval);
  EXPECT_FALSE(effect.p);
  EXPECT_EQ(effect.reason, "needs 4 processes a side (--processes), has 3 and 3");
}

TEST(Effect, constant_and_single_samples_are_legal) {
  EXPECT_DOUBLE_EQ(effect_of(series({5}), series({5}), unpaired()).ratio.value(), 1);
  const Effect constant = effect_of(series({5, 5}, 4), series({5, 5}, 4), unpaired());
  EXPECT_DOUBLE_EQ(constant.ratio.value(), 1);
  EXPECT_DOUBLE_EQ(constant.p.value(), 1);
}

TEST(Effect, a_base_of_zero_has_a_difference_and_no_ratio) {
  for (const Question& question : {paired(), unpaired()}) {
    const Effect effect = effect_of(series({0, 0}, 8), series({1, 1}, 8), question);
    EXPECT_FALSE(effect.ratio);
    EXPECT_DOUBLE_EQ(effect.difference.value(), 1);
    EXPECT_TRUE(effect.reason);
  }
}

TEST(Effect, samples_beyond_all_numbers_give_none) {
  const Effect effect = effect_of(series({5e-324}, 4), series({1e308}, 4), unpaired());
  EXPECT_FALSE(effect.ratio);
  EXPECT_FALSE(effect.interval);
  EXPECT_EQ(effect.reason, "the samples are too far apart for a number");
}

TEST(Effect, a_side_without_samples_says_which) {
  EXPECT_EQ(effect_of(series({}), series({1}), unpaired()).reason, "the base has no good sample");
  EXPECT_EQ(effect_of(series({1}), series({}), unpaired()).reason, "no good sample");
}

TEST(Effect, a_tail_is_tested_by_relabelling_processes) {
  std::vector<double> low;
  std::vector<double> high;
  for (int i = 0; i < 25; ++i) {
    low.push_back(100 + i);
    high.push_back(100 + i + (i > 20 ? 100 : 0));
  }
  const Effect effect = effect_of(series(low, 5), series(high, 5), unpaired(0.95));
  EXPECT_NEAR(effect.ratio.value(), 223.0 / 123, 1e-12);
  EXPECT_LT(effect.p.value(), 0.02);
  EXPECT_EQ(effect_of(series({1, 2}, 10), series({1, 2}, 10), unpaired(0.95)).reason,
            "each process needs 20 samples for this quantile");
}

TEST(Effect, units_are_brought_together) {
  EXPECT_EQ(in_unit(series({1}), "us")->samples, std::vector<double>{1000});
  EXPECT_FALSE(in_unit(series({1}), "MB"));
}

TEST(Effect, offsets_of_processes_are_not_taken_for_changes) {
  measure::Random random(11);
  int alarms = 0;
  for (int run = 0; run < 200; ++run) {
    const Series a = series_of(made_metric({}, 10, 20, random));
    const Series b = series_of(made_metric({}, 10, 20, random));
    alarms += effect_of(a, b, unpaired()).p.value() <= 0.05;
    alarms += effect_of(a, b, paired()).p.value() <= 0.05;
  }
  EXPECT_LE(alarms, 2 * 19);  // 5 % of 200 is 10; more than 18 come once in a hundred times
}

/// Processes of different length: `each[k]` samples around `levels[k]`.
Series uneven(const std::vector<double>& levels, const std::vector<std::size_t>& each) {
  Series made{"ms", {}, {}, {}};
  for (std::uint32_t process = 0; process < levels.size(); ++process) {
    for (std::size_t i = 0; i < each[process]; ++i) {
      made.round.push_back(static_cast<std::uint32_t>(made.samples.size()));
      made.process.push_back(process);
      made.samples.push_back(levels[process]);
    }
  }
  return made;
}

TEST(Effect, paired_processes_are_those_of_one_number_whatever_their_length) {
  Question question = paired();
  question.paired_by = PairedBy::processes;
  const Series base = uneven({10, 20, 30, 40, 50, 60}, {3, 1, 4, 1, 5, 9});
  const Series now = uneven({20, 40, 60, 80, 100, 120}, {1, 2, 1, 7, 1, 1});
  const Effect effect = effect_of(base, now, question);
  EXPECT_NEAR(effect.ratio.value(), 2, 1e-12);
  EXPECT_NEAR((*effect.interval)[1], 2, 1e-12);
  EXPECT_EQ(effect.pairs, 6U);
  EXPECT_NEAR(effect.p.value(), 2.0 / 64, 1e-12);
  question.quantile = 0.95;
  EXPECT_EQ(effect_of(series({1, 2, 3, 4}, 6), series({1, 2, 3, 4}, 6), question).reason,
            "each process needs 20 samples for this quantile");
}

TEST(Effect, of_samples_that_were_not_all_kept_there_is_the_change_alone) {
  report::Metric metric;
  metric.unit = "ms";
  for (std::uint32_t i = 0; i < 20; ++i) add_sample(metric, 1, i, i);
  summarise(metric);
  const Series base = series_of(metric);
  measure::Histogram histogram;
  histogram.record(std::chrono::milliseconds(1), 20);
  histogram.record(std::chrono::milliseconds(3), 980);
  metric.histogram = histogram.data();
  metric.summary = measure::summarise(histogram, 1e6, 20);
  for (const Question& question : {unpaired(), paired()}) {
    const Effect effect = effect_of(base, series_of(metric), question);
    EXPECT_EQ(effect.now_n, 1000U);
    EXPECT_NEAR(effect.now.value(), 3, 0.003);
    EXPECT_NEAR(effect.ratio.value(), 3, 0.003);
    EXPECT_EQ(effect.interval, std::nullopt);
    EXPECT_EQ(effect.p, std::nullopt);
    EXPECT_EQ(effect.reason.value_or("").substr(0, 41), "more samples were taken than are kept, so");
  }
  const Series micros = in_unit(series_of(metric), "us").value();
  EXPECT_NEAR(quantile_of(micros, 0.5), 3000, 3);
  EXPECT_EQ(count_of(micros), 1000U);
}

TEST(Effect, the_option_that_measures_more_processes_is_named) {
  Question question = unpaired();
  question.repeat_flag = "--runs";
  EXPECT_EQ(effect_of(series({1, 2}), series({1, 2}), question).reason,
            "needs 4 processes a side (--runs), has 1 and 1");
}

}  // namespace
}  // namespace tare::verdict
