#include "lab/bench/common/resume.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/measure/host.hpp"

namespace tare::bench {
namespace {

using testing::HasSubstr;

report::Document partial() {
  report::Document document;
  document.tool = this_tool();
  document.host = measure::read_host();
  document.config = json::Object{{"bench", "agents"}};
  document.targets.emplace_back().id = "node";
  report::Row& row = document.rows.emplace_back();
  row.row = "admission_8";
  row.target = "node";
  report::Metric& metric = row.metrics["total"];
  metric.unit = "ms";
  for (std::uint32_t i = 0; i < 4; ++i) {
    metric.samples.emplace_back(1.0);
    metric.round.push_back(i);
    metric.at_ms.push_back(10.0 * i);
  }
  return document;
}

template <class F>
std::string refused(F check) {
  try {
    check();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), exit_usage);
    return error.line();
  }
  return "accepted";
}

std::string resumable(const report::Document& document) {
  return refused([&] { check_resumable(document, "agents", "run.json"); });
}

std::string rows(const report::Document& document, std::uint64_t most = 10) {
  const std::vector<std::string> known = {"admission_8"};
  return refused([&] { check_rows(document, known, "run.json", [&](const std::string&) { return most; }); });
}

TEST(Resume, a_partial_run_of_this_program_on_this_machine_can_go_on) {
  EXPECT_EQ(resumable(partial()), "accepted");
  EXPECT_EQ(rows(partial()), "accepted");
}

TEST(Resume, what_is_another_run_is_refused_with_the_first_difference) {
  report::Document document = partial();
  document.complete = true;
  EXPECT_THAT(resumable(document), HasSubstr("it is complete"));
  document = partial();
  document.tool.version = "9.9.9";
  EXPECT_THAT(resumable(document), HasSubstr("written by tare 9.9.9"));
  document = partial();
  document.host.cpu = "Z80";
  EXPECT_THAT(resumable(document), HasSubstr("another cpu: Z80"));
  document = partial();
  document.config = json::Object{{"bench", "spawn"}};
  EXPECT_THAT(resumable(document), HasSubstr("a run of bench 'spawn'"));
  document.config = nullptr;
  EXPECT_THAT(resumable(document), HasSubstr("a run of bench ''"));
}

TEST(Resume, rows_are_those_of_the_run_with_rounds_without_a_gap) {
  report::Document document = partial();
  document.rows[0].row = "admission_9";
  EXPECT_THAT(rows(document), HasSubstr("is not part of this run"));
  document = partial();
  document.rows.push_back(document.rows[0]);
  EXPECT_THAT(rows(document), HasSubstr("is there twice"));
  document = partial();
  document.rows[0].metrics["total"].round[2] = 3;
  EXPECT_THAT(rows(document), HasSubstr("round[2] is 3"));
  document = partial();
  document.rows[0].metrics["total"].samples[1] = -1;
  EXPECT_THAT(rows(document), HasSubstr("samples[1] is -1 ms"));
  EXPECT_THAT(rows(partial(), 3), HasSubstr("has 4 rounds of 3"));
}

TEST(Resume, the_clock_goes_on_after_the_last_sample) {
  EXPECT_EQ(measured_so_far(partial()), std::chrono::milliseconds(30));
  EXPECT_EQ(measured_so_far({}), Nanoseconds(0));
}

TEST(Resume, a_target_that_is_another_program_is_refused) {
  report::Document document = partial();
  Lane lane;
  lane.facts.id = "node";
  EXPECT_EQ(refused([&] { check_targets(document, {lane}); }), "accepted");
  lane.facts.sha256 = "0";
  EXPECT_THAT(refused([&] { check_targets(document, {lane}); }), HasSubstr("'node' is another program now"));
}

}  // namespace
}  // namespace tare::bench
