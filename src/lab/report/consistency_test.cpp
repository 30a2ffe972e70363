#include "lab/report/consistency.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/report/example_document.hpp"

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

}  // namespace
}  // namespace tare::report
