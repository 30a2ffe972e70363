#include "lab/measure/host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/json.hpp"
#include "lab/measure/fake_root.hpp"

namespace tare::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string cpus = "sys/devices/system/cpu/";

FakeRoot& bare_metal(FakeRoot& root) {
  return root.add("proc/cpuinfo", "processor\t: 0\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\n")
      .add(cpus + "online", "0-1\n")
      .add("proc/self/status", "Name:\ttare\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n")
      .add("proc/sys/kernel/osrelease", "6.18.0\n")
      .add("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n")
      .add("proc/meminfo", "MemTotal:        8000000 kB\nMemFree: 1 kB\n")
      .add(cpus + "cpu0/cpufreq/scaling_governor", "powersave\n")
      .add(cpus + "cpu1/cpufreq/scaling_governor", "performance\n")
      .add(cpus + "cpufreq/boost", "1\n")
      .add(cpus + "smt/active", "0\n")
      .add("proc/sys/kernel/randomize_va_space", "2\n")
      .add("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n")
      .add("proc/self/limits",
           "Limit                     Soft Limit           Hard Limit           Units\n"
           "Max open files            1024                 524288               files\n")
      .add("proc/loadavg", "0.40 0.30 0.20 2/100 4242\n");
}

TEST(Host, facts_are_read_from_proc_and_sys) {
  FakeRoot root;
  const HostFacts host = read_host(bare_metal(root).path());
  EXPECT_EQ(host.cpu, "AMD EPYC");
  EXPECT_EQ(host.logical_cpus, 2u);
  EXPECT_EQ(host.cpus_allowed, "0-1");
  EXPECT_EQ(host.kernel, "6.18.0");
  EXPECT_EQ(host.os, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(host.memory_bytes, 8192000000u);
  EXPECT_EQ(host.governor, "performance, powersave");
  EXPECT_EQ(host.turbo, "on");
  EXPECT_EQ(host.smt, "off");
  EXPECT_EQ(host.aslr, "full");
  EXPECT_EQ(host.clocksource, "tsc");
  EXPECT_EQ(host.nofile, 1024u);
  EXPECT_THAT(host.load, ElementsAre(0.4, 0.3, 0.2));
  EXPECT_FALSE(host.absent.contains("governor"));
  EXPECT_EQ(host.absent.at("cgroup.cpuQuota"), "no control groups under /sys/fs/cgroup");
}

TEST(Host, what_a_machine_does_not_have_is_null_with_a_reason_and_never_zero) {
  FakeRoot root;
  const HostFacts host = read_host(root.path());
  const std::string text = json::line(host);
  for (const char* fact : {"cpu", "logicalCpus", "cpusAllowed", "kernel", "os", "memoryBytes", "governor",
                           "turbo", "smt", "aslr", "clocksource", "nofile", "stealMs"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\"") + fact + "\":null"));
    EXPECT_TRUE(host.absent.contains(fact)) << fact;
  }
  for (const char* fact : {"load", "psi", "cgroup.version", "cgroup.cpuQuota", "cgroup.nrThrottled"}) {
    EXPECT_TRUE(host.absent.contains(fact)) << fact;
  }
  EXPECT_EQ(text.find(":0"), std::string::npos) << text;
}

TEST(Host, other_spellings_of_the_same_fact_are_understood) {
  FakeRoot root;
  root.add(cpus + "intel_pstate/no_turbo", "1\n")
      .add("proc/self/limits", "Max open files            unlimited            unlimited            files\n")
      .add("proc/cpuinfo", "processor\t: 0\nprocessor\t: 1\nprocessor\t: 2\n")
      .add("proc/device-tree/model", std::string_view("Some Board\0", 11))
      .add("usr/lib/os-release", "PRETTY_NAME=Plain\n");
  const HostFacts host = read_host(root.path());
  EXPECT_EQ(host.turbo, "off");
  EXPECT_FALSE(host.nofile);
  EXPECT_EQ(host.absent.at("nofile"), "no limit is set");
  EXPECT_EQ(host.logical_cpus, 3u);
  EXPECT_EQ(host.cpu, "Some Board");
  EXPECT_EQ(host.os, "Plain");
}

TEST(Host, noise_of_a_run_is_the_growth_of_its_counters) {
  NoiseFacts before;
  before.load = {1, 2, 3};
  before.steal_ms = 100;
  before.nr_throttled = 5;
  NoiseFacts after = before;
  after.steal_ms = 130;
  after.nr_throttled = 9;
  after.psi.cpu = Pressure{};
  FakeRoot root;
  const HostFacts host = with_noise(read_host(root.path()), before, after);
  EXPECT_EQ(host.steal_ms, 30);
  EXPECT_EQ(host.cgroup.nr_throttled, 4u);
  EXPECT_THAT(host.load, ElementsAre(1, 2, 3));
  EXPECT_FALSE(host.psi.before);
  EXPECT_TRUE(host.psi.after);
  EXPECT_FALSE(host.absent.contains("stealMs"));
  EXPECT_FALSE(host.absent.contains("load"));
  EXPECT_FALSE(with_noise(host, {}, {}).steal_ms);
}

TEST(Host, usable_processors_are_bounded_by_affinity_and_quota) {
  HostFacts host;
  EXPECT_EQ(usable_cpus(host), 1);
  host.logical_cpus = 8;
  EXPECT_EQ(usable_cpus(host), 8);
  host.cpus_allowed = "0-3";
  EXPECT_EQ(usable_cpus(host), 4);
  host.cgroup.cpu_quota = 1.5;
  EXPECT_EQ(usable_cpus(host), 1.5);
}

TEST(Host, this_machine_can_be_read_and_survives_json) {
  const HostFacts host = read_host();
  EXPECT_EQ(host.logical_cpus, static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
  const std::string text = json::line(host);
  EXPECT_EQ(json::line(json::read<HostFacts>(json::parse(text, "host"), "host")), text);
}

}  // namespace
}  // namespace tare::measure
