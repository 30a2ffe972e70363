#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/describe.hpp>

#include "lab/measure/cgroup.hpp"
#include "lab/measure/noise.hpp"

namespace tare::measure {

struct PressuresOfRun {
  std::optional<Pressures> before;
  std::optional<Pressures> after;
};
BOOST_DESCRIBE_STRUCT(PressuresOfRun, (), (before, after))

/// The machine as far as it bears on timings. A fact that the machine does not have is null, never 0, and
/// `absent` says why under the fact's JSON name ("governor", "cgroup.cpuQuota").
struct HostFacts {
  std::optional<std::string> cpu;             ///< model name
  std::optional<std::uint64_t> logical_cpus;  ///< online
  std::optional<std::string> cpus_allowed;    ///< to this process, as a kernel list: "0-3,8"
  std::optional<std::string> kernel;          ///< release
  std::optional<std::string> os;              ///< PRETTY_NAME of os-release
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::string> governor;     ///< of all processors; several are joined by ", "
  std::optional<std::string> turbo;        ///< on, off
  std::optional<std::string> smt;          ///< on, off
  std::optional<std::string> aslr;         ///< off, partial, full
  std::optional<std::string> clocksource;  ///< tsc, kvm-clock, …
  CgroupFacts cgroup;
  std::optional<std::uint64_t> nofile;  ///< soft limit of open files; null when unlimited
  std::vector<double> load;             ///< over 1, 5 and 15 minutes, before the run
  PressuresOfRun psi;
  std::optional<double> steal_ms;             ///< growth during the run
  std::map<std::string, std::string> absent;  ///< why a fact is null
};
BOOST_DESCRIBE_STRUCT(HostFacts, (),
                      (cpu, logical_cpus, cpus_allowed, kernel, os, memory_bytes, governor, turbo, smt, aslr,
                       clocksource, cgroup, nofile, load, psi, steal_ms, absent))

/// Reads /proc, /sys and /etc/os-release under `root`. Never throws.
HostFacts read_host(const std::filesystem::path& root = "/");

/// The facts with what was seen before and after a run: load and pressure, and the growth of steal and of
/// the group's throttling.
HostFacts with_noise(HostFacts host, const NoiseFacts& before, const NoiseFacts& after);

/// How many processors this process can keep busy: those allowed to it, or the quota of its group if that
/// is less. At least one thing is always assumed: 1 when nothing is known.
double usable_cpus(const HostFacts& host);

}  // namespace tare::measure
