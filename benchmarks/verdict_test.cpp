#include <gtest/gtest.h>

#include "benchmark.hpp"

namespace tare::benchmarks {
namespace {

using measure::Interval;
using measure::NoiseLevel;

const measure::Noise quiet{};
const measure::Noise busy{NoiseLevel::busy, {"load 9.0 on 2 processors"}};

Bar ratio_bar(std::optional<double> low, std::optional<double> high) {
  return {"a.ratio", "one against another", "ms", Judged::ratio, {low, high}};
}
const Bar time_bar{"a.time", "how long", "ms", Judged::time, {{}, 10.0}};
const Bar size_bar{"a.size", "how large", "MB", Judged::size, {{}, 25.0}};

Measurement ratio(double value, std::optional<Interval> interval) {
  return {value, 1.0, value, interval, "", {}};
}
Measurement absolute(double value, std::optional<Interval> interval = {}) {
  return {value, {}, {}, interval, "", {}};
}
Verdict verdict(const Bar& bar, const Measurement& measurement, const measure::Noise& noise = quiet) {
  return judge(bar, measurement, noise).verdict;
}

TEST(Verdict, passes_only_when_the_whole_interval_is_inside) {
  EXPECT_EQ(verdict(ratio_bar({}, 1.05), ratio(1.02, Interval{1.01, 1.04})), Verdict::pass);
  EXPECT_EQ(verdict(ratio_bar({}, 1.05), ratio(1.02, Interval{1.01, 1.06})), Verdict::inconclusive);
  EXPECT_EQ(verdict(ratio_bar(0.93, 1.03), ratio(0.94, Interval{0.92, 0.96})), Verdict::inconclusive);
}

TEST(Verdict, the_ends_of_the_limit_belong_to_it) {
  EXPECT_EQ(verdict(ratio_bar({}, 1.05), ratio(1.05, Interval{1.05, 1.05})), Verdict::pass);
  EXPECT_EQ(verdict(ratio_bar(0.93, 1.03), ratio(1.0, Interval{0.93, 1.03})), Verdict::pass);
}

TEST(Verdict, fails_only_when_the_whole_interval_is_outside) {
  EXPECT_EQ(verdict(ratio_bar({}, 1.05), ratio(1.08, Interval{1.04, 1.10})), Verdict::inconclusive);
  EXPECT_EQ(verdict(ratio_bar({}, 1.05), ratio(1.08, Interval{1.06, 1.10})), Verdict::fail);
  EXPECT_EQ(verdict(ratio_bar(0.93, 1.03), ratio(0.90, Interval{0.88, 0.92})), Verdict::fail);
}

TEST(Verdict, an_interval_around_the_whole_limit_is_inconclusive) {
  EXPECT_EQ(verdict(ratio_bar(0.93, 1.03), ratio(1.0, Interval{0.80, 1.20})), Verdict::inconclusive);
}

TEST(Verdict, a_ratio_without_an_interval_decides_nothing) {
  EXPECT_EQ(verdict(ratio_bar({}, 1.05), ratio(1.00, {})), Verdict::inconclusive);
}

TEST(Verdict, a_ratio_stays_a_failure_on_a_busy_machine) {
  EXPECT_EQ(verdict(ratio_bar({}, 1.05), ratio(1.08, Interval{1.06, 1.10}), busy), Verdict::fail);
}

TEST(Verdict, a_long_time_on_a_busy_machine_is_inconclusive_and_says_why) {
  EXPECT_EQ(verdict(time_bar, absolute(12, Interval{11, 13})), Verdict::fail);
  const Result result = judge(time_bar, absolute(12, Interval{11, 13}), busy);
  EXPECT_EQ(result.verdict, Verdict::inconclusive);
  EXPECT_NE(result.reason.find("load 9.0 on 2 processors"), std::string::npos) << result.reason;
}

TEST(Verdict, a_limit_below_what_the_machine_takes_anyway_is_not_judged_there) {
  Measurement slow = absolute(12, Interval{11, 13});
  slow.floor = 10.5;
  EXPECT_EQ(verdict(time_bar, slow), Verdict::inconclusive);
  slow.floor = 9.5;
  EXPECT_EQ(verdict(time_bar, slow), Verdict::fail);
  Measurement fast = absolute(9, Interval{8, 9.5});
  fast.floor = 10.5;
  EXPECT_EQ(verdict(time_bar, fast), Verdict::pass);
}

TEST(Verdict, a_short_time_passes_however_busy_the_machine_is) {
  EXPECT_EQ(verdict(time_bar, absolute(5, Interval{4, 6}), busy), Verdict::pass);
}

TEST(Verdict, load_is_no_excuse_for_a_size) {
  EXPECT_EQ(verdict(size_bar, absolute(26), busy), Verdict::fail);
  EXPECT_EQ(verdict(size_bar, absolute(25), busy), Verdict::pass);
}

TEST(Verdict, a_small_rate_is_as_a_long_time) {
  const Bar rate_bar{"a.rate", "how many", "/s", Judged::rate, {100.0, {}}};
  EXPECT_EQ(verdict(rate_bar, absolute(90, Interval{80, 95})), Verdict::fail);
  EXPECT_EQ(verdict(rate_bar, absolute(90, Interval{80, 95}), busy), Verdict::inconclusive);
  EXPECT_EQ(verdict(rate_bar, absolute(110, Interval{105, 120}), busy), Verdict::pass);
}

TEST(Verdict, a_limit_that_the_run_has_set_takes_the_place_of_the_bars) {
  const Bar rate_bar{"a.rate", "how many", "/s", Judged::rate, {100.0, {}}};
  Measurement measurement = absolute(60, Interval{55, 65});
  measurement.limit = Limit{50.0, {}};
  const Result result = judge(rate_bar, measurement, quiet);
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_EQ(json::line(result.limit), "[50,null]");
}

TEST(Verdict, what_is_wrong_fails_however_fast_it_was) {
  Measurement measurement = ratio(0.9, Interval{0.8, 0.95});
  measurement.broken = "the answer is wrong";
  measurement.note = "9 rounds";
  const Result result = judge(ratio_bar({}, 1.05), measurement, quiet);
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_EQ(result.reason, "the answer is wrong; 9 rounds");
}

TEST(Verdict, without_a_figure_it_is_unmeasured_with_the_reason) {
  Measurement nothing;
  nothing.note = "hyperfine is not installed";
  const Result result = judge(ratio_bar({}, 1.05), nothing, quiet);
  EXPECT_EQ(result.verdict, Verdict::unmeasured);
  EXPECT_EQ(result.reason, "hyperfine is not installed");
  EXPECT_EQ(verdict(time_bar, Measurement{}), Verdict::unmeasured);
}

TEST(Verdict, the_document_has_a_number_for_an_upper_limit_and_a_pair_for_two) {
  const Result one = judge(ratio_bar({}, 1.05), ratio(1.02, Interval{1.01, 1.04}), quiet);
  EXPECT_EQ(json::line(one),
            R"({"id":"a.ratio","quantity":"one against another","unit":"ms","measured":1.02,)"
            R"("interval":[1.01,1.04],"against":1,"limit":1.05,"ratio":1.02,"verdict":"pass","reason":""})");
  const Result two = judge(ratio_bar(0.93, 1.03), Measurement{}, quiet);
  EXPECT_EQ(json::line(two.limit), "[0.93,1.03]");
}

TEST(Run, an_error_of_a_benchmark_is_its_reason) {
  const Benchmark benchmark{time_bar, []() -> Measurement {
                              throw Error(ErrorCode::unavailable, "no peer", "not installed", "install it");
                            }};
  const Result result = run(benchmark);
  EXPECT_EQ(result.verdict, Verdict::unmeasured);
  EXPECT_EQ(result.reason, "no peer (not installed); install it");
}

TEST(Run, a_wrong_answer_fails_and_is_no_missing_figure) {
  const Result result =
      run({time_bar, []() -> Measurement { throw Broken("3 of 4 are there", "one was lost"); }});
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_EQ(result.reason, "3 of 4 are there (one was lost)");
}

}  // namespace
}  // namespace tare::benchmarks
