#include "lab/measure/advice.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "lab/measure/fake_root.hpp"

namespace tare::measure {
namespace {

using testing::HasSubstr;

HostFacts quiet_host() {
  HostFacts host;
  host.cpu = "Some CPU";
  host.logical_cpus = 4;
  host.memory_bytes = std::uint64_t{8} << 30;
  host.governor = "performance";
  host.turbo = "off";
  host.smt = "off";
  host.aslr = "full";
  host.clocksource = "tsc";
  host.nofile = 65536;
  host.load = {0.5, 0.5, 0.5};
  host.psi.before = Pressures{Pressure{}, Pressure{}, Pressure{}};
  host.steal_ms = 0;
  return host;
}

Advice about(const HostFacts& host, std::string_view fact, const std::optional<Noise>& noise = std::nullopt) {
  const auto all = explain(host, noise);
  const auto found = std::ranges::find(all, fact, &Advice::fact);
  return found == all.end() ? Advice{} : *found;
}

TEST(Advice, a_quiet_machine_gets_no_warning_and_nothing_to_do) {
  const auto all = explain(quiet_host(), Noise{});
  for (const Advice& item : all) {
    EXPECT_EQ(item.level, AdviceLevel::ok) << item.fact << ": " << item.meaning;
    EXPECT_EQ(item.advice, "") << item.fact;
    EXPECT_NE(item.value, "") << item.fact;
    EXPECT_NE(item.meaning, "") << item.fact;
  }
  EXPECT_FALSE(most_helpful(all));
}

TEST(Advice, what_a_machine_does_not_have_reads_unavailable_with_the_reason) {
  FakeRoot root;
  const HostFacts host = read_host(root.path());
  for (const char* fact : {"processor", "governor", "turbo", "smt", "aslr", "clocksource", "memory",
                           "open files", "load", "pressure", "steal"}) {
    EXPECT_EQ(about(host, fact).value, "unavailable") << fact;
    EXPECT_NE(about(host, fact).level, AdviceLevel::warn) << fact;
    EXPECT_NE(about(host, fact).meaning, "") << fact;
  }
}

TEST(Advice, every_warning_says_what_to_do) {
  HostFacts host = quiet_host();
  host.logical_cpus = 1;
  host.memory_bytes = 1 << 28;
  host.nofile = 256;
  host.governor = "powersave";
  host.clocksource = "hpet";
  host.cgroup = {2, 1.5, std::nullopt, 12};
  host.load = {9, 9, 9};
  host.psi.before->cpu = Pressure{40, 1, std::nullopt, std::nullopt};
  host.steal_ms = 120;
  const auto all = explain(host, Noise{NoiseLevel::busy, {"reason"}});
  int warnings = 0;
  for (const Advice& item : all) {
    if (item.level != AdviceLevel::warn) continue;
    ++warnings;
    EXPECT_NE(item.advice, "") << item.fact;
  }
  EXPECT_EQ(warnings, 10);
  EXPECT_EQ(most_helpful(all)->fact, "cpu quota");
  EXPECT_THAT(about(host, "cpu quota").value, HasSubstr("stopped 12 times"));
}

TEST(Advice, what_helps_most_comes_first) {
  HostFacts host = quiet_host();
  host.governor = "powersave";
  EXPECT_EQ(most_helpful(explain(host))->fact, "governor");
  host.load = {3, 3, 3};
  EXPECT_EQ(most_helpful(explain(host))->fact, "load");
}

TEST(Advice, the_tighter_of_machine_and_group_is_the_memory_that_counts) {
  HostFacts host = quiet_host();
  host.cgroup.memory_limit = 1 << 29;
  EXPECT_EQ(about(host, "memory").level, AdviceLevel::warn);
  EXPECT_THAT(about(host, "memory").value, HasSubstr("limit of the group"));
}

TEST(Advice, noise_gives_its_reasons) {
  const Advice noise = about(quiet_host(), "noise", Noise{NoiseLevel::moderate, {"load 1.1", "steal"}});
  EXPECT_EQ(noise.value, "moderate");
  EXPECT_EQ(noise.meaning, "load 1.1; steal");
  EXPECT_EQ(noise.level, AdviceLevel::note);
  EXPECT_EQ(about(quiet_host(), "noise").fact, "");
  EXPECT_THAT(json::line(noise), HasSubstr(R"("level":"note")"));
}

}  // namespace
}  // namespace tare::measure
