#include "lab/measure/host.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "lab/measure/facts.hpp"

namespace tare::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view cpu_folder = "sys/devices/system/cpu";

std::string unquoted(std::string_view value) {
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front()) {
    value = value.substr(1, value.size() - 2);
  }
  return std::string(value);
}

std::optional<std::string> field(const fs::path& path, std::string_view key, std::string_view separators) {
  const auto content = facts::text(path);
  return content ? facts::value_of(*content, key, separators) : std::nullopt;
}

/// x86 names its model in cpuinfo; an ARM board names itself in the device tree.
std::optional<std::string> cpu_model(const fs::path& root) {
  for (const char* key : {"model name", "Model", "cpu model", "uarch"}) {
    if (auto name = field(root / "proc/cpuinfo", key, ": \t")) return name;
  }
  auto name = facts::text(root / "proc/device-tree/model");
  if (name) std::erase(*name, '\0');
  return name;
}

std::optional<std::uint64_t> online_cpus(const fs::path& root) {
  if (const auto list = facts::text(root / cpu_folder / "online")) {
    if (const auto size = facts::cpu_list_size(*list)) return size;
  }
  const auto info = facts::text(root / "proc/cpuinfo");
  if (!info) return std::nullopt;
  const auto lines = text::split(*info, '\n');
  const auto count =
      std::ranges::count_if(lines, [](const auto& line) { return line.starts_with("processor"); });
  return count > 0 ? std::optional(static_cast<std::uint64_t>(count)) : std::nullopt;
}

std::optional<std::uint64_t> memory(const fs::path& root) {
  const auto total = field(root / "proc/meminfo", "MemTotal", ": \t");
  const auto kilobytes = total ? facts::leading_number(*total) : std::nullopt;
  return kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt;
}

std::optional<std::string> governors(const fs::path& root) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(root / cpu_folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (!name.starts_with("cpu") || name.find_first_not_of("0123456789", 3) != std::string::npos) continue;
    if (auto governor = facts::text(at->path() / "cpufreq/scaling_governor"))
      names.insert(std::move(*governor));
  }
  if (names.empty()) return std::nullopt;
  return text::join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

std::optional<std::string> turbo(const fs::path& root) {
  if (const auto off = facts::number(root / cpu_folder / "intel_pstate/no_turbo"))
    return *off == 0 ? "on" : "off";
  if (const auto on = facts::number(root / cpu_folder / "cpufreq/boost")) return *on == 0 ? "off" : "on";
  return std::nullopt;
}

std::optional<std::string> smt(const fs::path& root) {
  if (const auto active = facts::number(root / cpu_folder / "smt/active")) return *active == 0 ? "off" : "on";
  return std::nullopt;
}

std::optional<std::string> aslr(const fs::path& root) {
  const auto level = facts::number(root / "proc/sys/kernel/randomize_va_space");
  if (!level) return std::nullopt;
  return *level == 0 ? "off" : *level == 1 ? "partial" : "full";
}

/// "Max open files            1024                 524288               files"
std::optional<std::string> open_files(const fs::path& root) {
  return field(root / "proc/self/limits", "Max open files", " ");
}

void explain_absence(HostFacts& host, const std::optional<std::string>& files) {
  const auto because = [&](std::string_view fact, bool missing, std::string_view why) {
    if (missing) host.absent.emplace(fact, why);
  };
  because("cpu", !host.cpu, "/proc/cpuinfo names no model");
  because("logicalCpus", !host.logical_cpus, "neither /sys nor /proc/cpuinfo lists processors");
  because("cpusAllowed", !host.cpus_allowed, "/proc/self/status has no Cpus_allowed_list");
  because("kernel", !host.kernel, "no /proc/sys/kernel/osrelease");
  because("os", !host.os, "no PRETTY_NAME in /etc/os-release");
  because("memoryBytes", !host.memory_bytes, "no MemTotal in /proc/meminfo");
  because("governor", !host.governor, "the kernel shows no scaling_governor, as in most virtual machines");
  because("turbo", !host.turbo, "the kernel shows neither no_turbo nor boost, as in most virtual machines");
  because("smt", !host.smt, "no /sys/devices/system/cpu/smt");
  because("aslr", !host.aslr, "no /proc/sys/kernel/randomize_va_space");
  because("clocksource", !host.clocksource, "no current_clocksource under /sys");
  because("nofile", !host.nofile, files ? "no limit is set" : "no /proc/self/limits");
  because("load", host.load.empty(), "no /proc/loadavg");
  because("psi", !host.psi.before, "the kernel does not account pressure (/proc/pressure)");
  because("stealMs", !host.steal_ms, "known only after a run");
  because("cgroup.version", !host.cgroup.version, "no control groups under /sys/fs/cgroup");
  const char* no_limit = host.cgroup.version ? "no limit is set" : "no control groups under /sys/fs/cgroup";
  because("cgroup.cpuQuota", !host.cgroup.cpu_quota, no_limit);
  because("cgroup.memoryLimit", !host.cgroup.memory_limit, no_limit);
  because("cgroup.nrThrottled", !host.cgroup.nr_throttled, "no nr_throttled in cpu.stat of the group");
}

std::optional<Pressures> if_any(const Pressures& pressures) {
  if (pressures == Pressures{}) return std::nullopt;
  return pressures;
}

}  // namespace

HostFacts read_host(const fs::path& root) {
  HostFacts host;
  host.cpu = cpu_model(root);
  host.logical_cpus = online_cpus(root);
  host.cpus_allowed = field(root / "proc/self/status", "Cpus_allowed_list", ": \t");
  host.kernel = facts::text(root / "proc/sys/kernel/osrelease");
  for (const char* path : {"etc/os-release", "usr/lib/os-release"}) {
    if (!host.os) host.os = field(root / path, "PRETTY_NAME", "=");
  }
  if (host.os) host.os = unquoted(std::move(*host.os));
  host.memory_bytes = memory(root);
  host.governor = governors(root);
  host.turbo = turbo(root);
  host.smt = smt(root);
  host.aslr = aslr(root);
  host.clocksource = facts::text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
  host.cgroup = read_cgroup(root);
  const auto files = open_files(root);
  if (files) host.nofile = facts::leading_number(*files);
  const NoiseFacts noise = read_noise(root);
  host.load = noise.load;
  host.psi.before = if_any(noise.psi);
  explain_absence(host, files);
  return host;
}

HostFacts with_noise(HostFacts host, const NoiseFacts& before, const NoiseFacts& after) {
  host.load = before.load;
  host.psi = {if_any(before.psi), if_any(after.psi)};
  host.absent.erase("stealMs");
  if (before.steal_ms && after.steal_ms) {
    host.steal_ms = std::max(0.0, *after.steal_ms - *before.steal_ms);
  } else {
    host.steal_ms = std::nullopt;
    host.absent.insert_or_assign("stealMs", "no steal time in /proc/stat");
  }
  if (before.nr_throttled && after.nr_throttled) {
    host.cgroup.nr_throttled = *after.nr_throttled - std::min(*after.nr_throttled, *before.nr_throttled);
    host.absent.erase("cgroup.nrThrottled");
  }
  if (!host.load.empty()) host.absent.erase("load");
  if (host.psi.before) host.absent.erase("psi");
  return host;
}

double usable_cpus(const HostFacts& host) {
  std::optional<std::uint64_t> cpus = host.logical_cpus;
  if (host.cpus_allowed) {
    if (const auto allowed = facts::cpu_list_size(*host.cpus_allowed))
      cpus = std::min(cpus.value_or(*allowed), *allowed);
  }
  const double whole = std::max(1.0, static_cast<double>(cpus.value_or(1)));
  return host.cgroup.cpu_quota ? std::min(whole, *host.cgroup.cpu_quota) : whole;
}

}  // namespace tare::measure
