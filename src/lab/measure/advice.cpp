#include "lab/measure/advice.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tare::measure {
namespace {

constexpr auto ok = AdviceLevel::ok;
constexpr auto note = AdviceLevel::note;
constexpr auto warn = AdviceLevel::warn;

constexpr std::string_view unavailable = "unavailable";

std::string value_or_unavailable(const std::optional<std::string>& value) {
  return value.value_or(std::string(unavailable));
}

std::string absence(const HostFacts& host, const std::string& fact) {
  const auto found = host.absent.find(fact);
  return found == host.absent.end() ? "the machine does not tell" : found->second;
}

Advice processor(const HostFacts& host) {
  return {"processor", value_or_unavailable(host.cpu), ok, "figures of another model are not comparable", ""};
}

Advice processors(const HostFacts& host) {
  const double usable = usable_cpus(host);
  std::string value = fmt::format("{:g} usable", usable);
  if (host.logical_cpus) value += fmt::format(" of {}", *host.logical_cpus);
  if (host.cpus_allowed) value += fmt::format(" (allowed: {})", *host.cpus_allowed);
  if (usable >= 2) return {"processors", value, ok, "the lab and what it measures can run side by side", ""};
  return {"processors", value, warn, "the lab and what it measures take turns on one processor",
          "measure with two processors or more"};
}

Advice governor(const HostFacts& host) {
  if (!host.governor) {
    return {"governor", std::string(unavailable), note, absence(host, "governor"),
            "the clock may change unseen; judge by the intervals"};
  }
  if (*host.governor == "performance")
    return {"governor", *host.governor, ok, "the clock does not follow the load", ""};
  return {"governor", *host.governor, warn,
          "the clock follows the load, so short operations run at a lower one",
          "sudo cpupower frequency-set -g performance"};
}

Advice turbo(const HostFacts& host) {
  if (!host.turbo) return {"turbo", std::string(unavailable), note, absence(host, "turbo"), ""};
  if (*host.turbo == "off") return {"turbo", "off", ok, "the clock does not depend on temperature", ""};
  return {"turbo", *host.turbo, note, "the clock depends on temperature and on the other cores",
          "for the steadiest figures switch it off (intel_pstate/no_turbo = 1, or cpufreq/boost = 0)"};
}

Advice smt(const HostFacts& host) {
  if (!host.smt) return {"smt", std::string(unavailable), note, absence(host, "smt"), ""};
  if (*host.smt == "off") return {"smt", "off", ok, "no core is shared by two threads", ""};
  return {"smt", *host.smt, note, "two threads share a core and slow each other down",
          "for the steadiest figures pin to separate cores, or switch it off (smt/control = off)"};
}

Advice aslr(const HostFacts& host) {
  if (!host.aslr) return {"aslr", std::string(unavailable), note, absence(host, "aslr"), ""};
  if (*host.aslr == "off")
    return {"aslr", "off", note, "every process has one layout, which may be a lucky one", ""};
  return {"aslr", *host.aslr, ok, "each process has its own layout; more processes average over it", ""};
}

Advice clocksource(const HostFacts& host) {
  if (!host.clocksource)
    return {"clocksource", std::string(unavailable), note, absence(host, "clocksource"), ""};
  static constexpr std::array fast{"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"};
  if (std::ranges::find(fast, *host.clocksource) != fast.end()) {
    return {"clocksource", *host.clocksource, ok, "the clock is read in nanoseconds, without a system call",
            ""};
  }
  return {"clocksource", *host.clocksource, warn,
          "reading this clock takes a system call, about a microsecond",
          "boot with clocksource=tsc if the machine has a stable one"};
}

Advice quota(const HostFacts& host) {
  const CgroupFacts& group = host.cgroup;
  if (!group.cpu_quota) return {"cpu quota", "none", ok, absence(host, "cgroup.cpuQuota"), ""};
  std::string value = fmt::format("{:g} processors", *group.cpu_quota);
  if (!group.nr_throttled) {
    return {"cpu quota", value, note, "the group is stopped for up to 100 ms whenever it uses that up", ""};
  }
  value += fmt::format(", stopped {} times", text::count(*group.nr_throttled));
  if (*group.nr_throttled == 0)
    return {"cpu quota", value, note, "the group has stayed within its quota so far", ""};
  return {"cpu quota", value, warn, "the group was stopped for up to 100 ms each time, which makes outliers",
          "raise the quota of the container, or measure outside of it"};
}

Advice memory(const HostFacts& host) {
  if (!host.memory_bytes) return {"memory", std::string(unavailable), note, absence(host, "memoryBytes"), ""};
  const std::uint64_t usable =
      std::min(*host.memory_bytes, host.cgroup.memory_limit.value_or(*host.memory_bytes));
  std::string value = text::bytes(usable);
  if (usable < *host.memory_bytes)
    value += fmt::format(" (limit of the group; the machine has {})", text::bytes(*host.memory_bytes));
  if (usable >= std::uint64_t{1} << 30) return {"memory", value, ok, "enough for every row", ""};
  return {"memory", value, warn, "wide rows may be killed for want of memory", "give it 1 GB or more"};
}

Advice open_files(const HostFacts& host) {
  if (!host.nofile) {
    const std::string why = absence(host, "nofile");
    const bool unlimited = why == "no limit is set";
    return {"open files", unlimited ? "unlimited" : std::string(unavailable), unlimited ? ok : note, why, ""};
  }
  const std::string value = text::count(*host.nofile);
  if (*host.nofile >= 1024) return {"open files", value, ok, "enough for every row", ""};
  return {"open files", value, warn, "wide rows run out of descriptors", "ulimit -n 65536"};
}

Advice load(const HostFacts& host) {
  if (host.load.empty()) return {"load", std::string(unavailable), note, absence(host, "load"), ""};
  const double cpus = usable_cpus(host);
  const std::string value = fmt::format("{:.1f}", host.load[0]);
  if (host.load[0] <= cpus / 2) return {"load", value, ok, "little else runs", ""};
  return {"load", value, warn, fmt::format("other work competes for {:g} processors", cpus),
          "stop what else runs, or wait for it"};
}

Advice pressure(const HostFacts& host) {
  if (!host.psi.before) return {"pressure", std::string(unavailable), note, absence(host, "psi"), ""};
  double worst = 0;
  std::string value;
  const auto add = [&](std::string_view name, const std::optional<Pressure>& pressure) {
    value += fmt::format("{}{} ", value.empty() ? "" : ", ", name);
    value += pressure ? fmt::format("{:.1f} %", pressure->some_avg10) : std::string(unavailable);
    if (pressure) worst = std::max(worst, pressure->some_avg10);
  };
  add("cpu", host.psi.before->cpu);
  add("io", host.psi.before->io);
  add("memory", host.psi.before->memory);
  if (worst <= 5) return {"pressure", value, ok, "tasks hardly wait for each other", ""};
  return {"pressure", value, warn, "tasks waited for each other in the last 10 s",
          "stop what else runs, or wait for it"};
}

Advice steal(const HostFacts& host) {
  if (!host.steal_ms) return {"steal", std::string(unavailable), ok, absence(host, "stealMs"), ""};
  const std::string value =
      fmt::format("{} ms", *host.steal_ms == 0 ? "0" : text::significant(*host.steal_ms));
  if (*host.steal_ms == 0) return {"steal", value, ok, "the hypervisor took no time away", ""};
  return {"steal", value, warn, "the hypervisor gave processor time to other machines",
          "measure on a dedicated machine, or repeat at a quieter hour"};
}

Advice judgement(const Noise& noise) {
  const std::string value = boost::describe::enum_to_string(noise.level, "");
  if (noise.level == NoiseLevel::quiet) return {"noise", value, ok, "nothing seen that disturbs figures", ""};
  return {"noise", value, noise.level == NoiseLevel::busy ? warn : note, text::join(noise.reasons, "; "),
          "trust intervals and ratios within a run rather than single figures"};
}

}  // namespace

std::vector<Advice> explain(const HostFacts& host, const std::optional<Noise>& noise) {
  std::vector<Advice> advice{processor(host),   processors(host), memory(host), open_files(host),
                             governor(host),    turbo(host),      smt(host),    aslr(host),
                             clocksource(host), quota(host),      load(host),   pressure(host),
                             steal(host)};
  if (noise) advice.push_back(judgement(*noise));
  return advice;
}

std::optional<Advice> most_helpful(std::span<const Advice> advice) {
  // What stops a process comes before what slows it, and that before what merely varies.
  static constexpr std::array order{"cpu quota", "load",       "pressure",    "steal",    "processors",
                                    "memory",    "open files", "clocksource", "governor", "noise"};
  for (const std::string_view fact : order) {
    const auto found = std::ranges::find_if(
        advice, [&](const Advice& item) { return item.fact == fact && item.level == AdviceLevel::warn; });
    if (found != advice.end()) return *found;
  }
  return std::nullopt;
}

}  // namespace tare::measure
