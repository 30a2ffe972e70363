#include "lab/measure/noise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "lab/measure/fake_root.hpp"

namespace tare::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Noise, facts_are_read_from_proc) {
  FakeRoot root;
  root.add("proc/loadavg", "0.40 0.30 0.20 2/100 4242\n")
      .add("proc/pressure/cpu",
           "some avg10=6.34 avg60=3.24 avg300=1.61 total=11364688\n"
           "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
      .add("proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\n")
      .add("proc/stat",
           "cpu  10 20 30 40 50 60 70 80 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nctxt 999\nprocs_running 3\n");
  const NoiseFacts noise = read_noise(root.path());
  EXPECT_THAT(noise.load, ElementsAre(0.4, 0.3, 0.2));
  EXPECT_EQ(noise.psi.cpu, (Pressure{6.34, 11364688, 0.0, 0u}));
  EXPECT_EQ(noise.psi.io, (Pressure{0, 12, std::nullopt, std::nullopt}));
  EXPECT_FALSE(noise.psi.memory);
  EXPECT_EQ(noise.steal_ms, 800);
  EXPECT_EQ(noise.context_switches, 999u);
  EXPECT_EQ(noise.running, 3u);
  EXPECT_FALSE(noise.nr_throttled);
}

TEST(Noise, what_a_machine_does_not_have_is_absent_and_disturbs_nothing) {
  FakeRoot root;
  const NoiseFacts nothing = read_noise(root.path());
  EXPECT_THAT(nothing.load, IsEmpty());
  EXPECT_EQ(nothing.psi, Pressures{});
  EXPECT_FALSE(nothing.steal_ms);
  EXPECT_EQ(judge(nothing, nothing, 2).level, NoiseLevel::quiet);
  root.add("proc/loadavg", "x").add("proc/stat", "cpu  1 2\n").add("proc/pressure/cpu", "some avg10=\n");
  EXPECT_THAT(read_noise(root.path()).load, IsEmpty());
  EXPECT_FALSE(read_noise(root.path()).steal_ms);
  EXPECT_FALSE(read_noise(root.path()).psi.cpu);
}

TEST(Noise, a_quiet_machine_has_no_reasons) {
  NoiseFacts facts;
  facts.load = {1.0, 1.0, 1.0};
  facts.psi.cpu = Pressure{5.0, 100, 0.0, 0u};
  facts.steal_ms = 10;
  facts.nr_throttled = 4;
  const Noise noise = judge(facts, facts, 2);
  EXPECT_EQ(noise.level, NoiseLevel::quiet);
  EXPECT_THAT(noise.reasons, IsEmpty());
}

TEST(Noise, load_before_the_run_counts_and_the_load_of_the_run_itself_does_not) {
  NoiseFacts before;
  NoiseFacts after;
  before.load = {0.2, 0, 0};
  after.load = {9, 9, 9};
  EXPECT_EQ(judge(before, after, 2).level, NoiseLevel::quiet);
  before.load = {1.1, 0, 0};
  EXPECT_EQ(judge(before, after, 2).level, NoiseLevel::moderate);
  EXPECT_THAT(judge(before, after, 2).reasons, ElementsAre(HasSubstr("load 1.1 on 2 processors")));
  EXPECT_EQ(judge(before, after, 4).level, NoiseLevel::quiet);
  before.load = {2.5, 0, 0};
  EXPECT_EQ(judge(before, after, 2).level, NoiseLevel::busy);
}

TEST(Noise, pressure_steal_and_throttling_each_have_a_reason_in_words) {
  NoiseFacts before;
  before.steal_ms = 100;
  before.nr_throttled = 3;
  NoiseFacts after = before;
  after.psi.cpu = Pressure{7.5, 100, std::nullopt, std::nullopt};
  EXPECT_EQ(judge(before, after, 2).level, NoiseLevel::moderate);
  EXPECT_THAT(judge(before, after, 2).reasons, ElementsAre(HasSubstr("waited for a processor 7.5 %")));
  after.steal_ms = 150;
  EXPECT_EQ(judge(before, after, 2).level, NoiseLevel::moderate);
  EXPECT_THAT(judge(before, after, 2).reasons, testing::Contains(HasSubstr("took 50")));
  after.nr_throttled = 5;
  EXPECT_EQ(judge(before, after, 2).level, NoiseLevel::busy);
  EXPECT_THAT(judge(before, after, 2).reasons, testing::Contains(HasSubstr("stopped 2 times")));
}

TEST(Noise, counters_that_went_backwards_are_not_a_huge_growth) {
  NoiseFacts before;
  before.steal_ms = 100;
  before.nr_throttled = 3;
  NoiseFacts after;
  after.steal_ms = 0;
  after.nr_throttled = 0;
  EXPECT_EQ(judge(before, after, 2).level, NoiseLevel::quiet);
}

TEST(Noise, facts_survive_json) {
  NoiseFacts facts;
  facts.psi.cpu = Pressure{7.5, 100, std::nullopt, std::nullopt};
  const std::string text = json::line(facts);
  EXPECT_THAT(text, HasSubstr(R"("someAvg10":7.5,"someTotalUs":100,"fullAvg10":null)"));
  EXPECT_EQ(json::line(json::read<NoiseFacts>(json::parse(text, "n"), "n")), text);
  EXPECT_EQ(json::line(Noise{NoiseLevel::busy, {"x"}}), R"({"level":"busy","reasons":["x"]})");
}

}  // namespace
}  // namespace tare::measure
