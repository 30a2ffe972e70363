#include "lab/report/provenance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/report/example_document.hpp"

namespace tare::report {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Provenance, the_host_in_one_line) {
  EXPECT_EQ(host_line(example_quick_run()),
            "2 × AMD EPYC 7B13 · Linux 6.1.0-18-amd64 · governor unavailable · load 1.40 · noise: moderate");
  EXPECT_THAT(host_line({}),
              HasSubstr("CPU unavailable · kernel unavailable · governor unavailable · load unavailable"));
}

TEST(Provenance, the_plan_in_one_line) {
  Document document = example_quick_run();
  EXPECT_EQ(plan_line(document), "13 rows × 3 targets × 20 rounds, interleaved, seed 42");
  document.config.as_object()["processes"] = 4;
  EXPECT_EQ(plan_line(document),
            "13 rows × 3 targets × 20 rounds in each of 4 processes, interleaved, seed 42");
  document.config = "not an object";
  EXPECT_EQ(plan_line(document), "13 rows × 3 targets, interleaved, seed 42");
  EXPECT_EQ(plan_line({}), "0 rows × 0 targets, interleaved, seed 0");
}

TEST(Provenance, an_absent_fact_says_why) {
  const auto lines = provenance_lines(example_quick_run());
  EXPECT_THAT(lines, Contains("governor: unavailable: no cpufreq in /sys"));
  EXPECT_THAT(lines, Contains("memory: 7.8 GB"));
  EXPECT_THAT(provenance_lines({}), Contains("steal during the run: unavailable"));
}

TEST(Provenance, the_command_can_be_typed_again) {
  Document document;
  document.command = {"tare", "spawn", "--target", "x=cmd:sh -c 'exit 0'", "", "--output", "out/run.json"};
  EXPECT_EQ(command_text(document),
            "tare spawn --target 'x=cmd:sh -c '\\''exit 0'\\''' '' --output out/run.json");
}

}  // namespace
}  // namespace tare::report
