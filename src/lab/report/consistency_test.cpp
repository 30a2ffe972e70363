#include "lab/report/consistency.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/report/example_document.hpp"
#include "lab/report/metric.hpp"

namespace tare::report {
namespace {

std::string refusal(void (*change)(Document&)) {
  Document document = example_document(30);
  change(document);
  try {
    check_consistent(document, "run.json");
  } catch (const Error& error) {
    return error.why();
  }
  return "taken";
}

Metric& first_metric(Document& document) {
  return document.rows[0].metrics.at("total");
}

TEST(Consistency, a_run_as_it_is_written_is_taken) {
  EXPECT_EQ(refusal([](Document&) {}), "taken");
}

TEST(Consistency, figures_must_follow_from_the_samples) {
  const char* const why = "does not follow from the samples";
  EXPECT_EQ(refusal([](Document& d) { first_metric(d).summary.p50 = 1; }), why);
  EXPECT_EQ(refusal([](Document& d) { first_metric(d).summary.p50_interval = {1, 2}; }), why);
  EXPECT_EQ(refusal([](Document& d) { first_metric(d).summary.count = 29; }), why);
  EXPECT_EQ(refusal([](Document& d) {
              for (auto& sample : first_metric(d).samples) sample = 1e6;
            }),
            why);
  EXPECT_EQ(refusal([](Document& d) { first_metric(d).samples[0].reset(); }), why);
  EXPECT_EQ(refusal([](Document& d) { first_metric(d).outcome[0] = Outcome::failed; }), why);
}

TEST(Consistency, outcomes_must_be_those_of_the_samples) {
  EXPECT_EQ(refusal([](Document& d) { d.rows[0].outcomes = {{"ok", 1}}; }), "are not those of the samples");
  EXPECT_EQ(refusal([](Document& d) { d.rows[0].outcomes["failed"] = 0; }), "taken");
}

TEST(Consistency, nothing_is_there_twice) {
  EXPECT_NE(refusal([](Document& d) { d.rows.push_back(d.rows[0]); }).find("is there twice"),
            std::string::npos);
  EXPECT_EQ(refusal([](Document& d) { d.targets.push_back(d.targets[0]); }), "is there twice");
}

TEST(Consistency, parallel_arrays_are_equally_long) {
  EXPECT_EQ(refusal([](Document& d) { first_metric(d).round.pop_back(); }),
            "samples, round, process, atMs, outcome and error differ in length");
}

/// The first metric counts ten times as many samples as it keeps.
void count_more_than_is_kept(Document& document) {
  measure::Histogram histogram;
  for (const auto& sample : first_metric(document).samples)
    histogram.record(Nanoseconds(static_cast<std::int64_t>(*sample * 1e6)), 10);
  first_metric(document).histogram = histogram.data();
  first_metric(document).summary = summary_of(first_metric(document));
  document.rows[0].outcomes["ok"] = 300;
}

TEST(Consistency, figures_of_a_metric_with_a_histogram_must_follow_from_it) {
  EXPECT_EQ(refusal(count_more_than_is_kept), "taken");
  const char* const why = "does not follow from the histogram";
  EXPECT_EQ(refusal([](Document& d) {
              count_more_than_is_kept(d);
              first_metric(d).summary.p95 = 1;
            }),
            why);
  EXPECT_EQ(refusal([](Document& d) {
              count_more_than_is_kept(d);
              first_metric(d).histogram.reset();
            }),
            "does not follow from the samples");
}

TEST(Consistency, a_histogram_must_be_one_and_of_all_good_samples) {
  EXPECT_EQ(refusal([](Document& d) {
              count_more_than_is_kept(d);
              first_metric(d).histogram->count += 1;
            }),
            "the buckets hold less than count");
  EXPECT_EQ(refusal([](Document& d) {
              count_more_than_is_kept(d);
              first_metric(d).unit = "bytes";
            }),
            "'bytes' is no unit of time");
  EXPECT_EQ(refusal([](Document& d) {
              measure::Histogram one;
              one.record(Nanoseconds(5));
              first_metric(d).histogram = one.data();
              first_metric(d).summary = summary_of(first_metric(d));
            }),
            "counts fewer than the samples that are kept");
  EXPECT_EQ(refusal([](Document& d) {
              count_more_than_is_kept(d);
              d.rows[0].outcomes["ok"] = 299;
            }),
            "are not those of the samples");
  EXPECT_EQ(refusal([](Document& d) {
              count_more_than_is_kept(d);
              d.rows[0].metrics.at("total").outcome[3] = Outcome::timeout;
            }),
            "are not those of the samples");
  EXPECT_EQ(refusal([](Document& d) {
              count_more_than_is_kept(d);
              d.rows[0].metrics.at("total").outcome[3] = Outcome::timeout;
              d.rows[0].outcomes["timeout"] = 1;
            }),
            "taken");
}

}  // namespace
}  // namespace tare::report
