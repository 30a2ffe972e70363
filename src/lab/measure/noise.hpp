#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <boost/describe.hpp>

namespace tare::measure {

/// Pressure stall information of one resource (the kernel's Documentation/accounting/psi.rst).
struct Pressure {
  double some_avg10 = 0;             ///< percent of the last 10 s in which at least one task waited
  std::uint64_t some_total_us = 0;   ///< that time since boot
  std::optional<double> full_avg10;  ///< percent in which all tasks waited
  std::optional<std::uint64_t> full_total_us;
  bool operator==(const Pressure&) const = default;
};
BOOST_DESCRIBE_STRUCT(Pressure, (), (some_avg10, some_total_us, full_avg10, full_total_us))

/// Null for what the kernel doesn't account.
struct Pressures {
  std::optional<Pressure> cpu;
  std::optional<Pressure> io;
  std::optional<Pressure> memory;
  bool operator==(const Pressures&) const = default;
};
BOOST_DESCRIBE_STRUCT(Pressures, (), (cpu, io, memory))

/// What else goes on in the machine at one moment. Counters run since boot (throttling since the group was
/// made); only their growth means anything.
struct NoiseFacts {
  std::vector<double> load;  ///< over 1, 5 and 15 minutes; empty when unavailable
  Pressures psi;
  std::optional<double> steal_ms;  ///< time that the hypervisor gave to others, over all processors
  std::optional<std::uint64_t> nr_throttled;
  std::optional<std::uint64_t> context_switches;
  std::optional<std::uint64_t> running;  ///< tasks that run or want to
};
BOOST_DESCRIBE_STRUCT(NoiseFacts, (), (load, psi, steal_ms, nr_throttled, context_switches, running))

/// Reads the facts from /proc and /sys under `root`. What is not there is absent; never throws.
NoiseFacts read_noise(const std::filesystem::path& root = "/");

BOOST_DEFINE_ENUM_CLASS(NoiseLevel, quiet, moderate, busy)

struct Noise {
  NoiseLevel level = NoiseLevel::quiet;
  std::vector<std::string> reasons;  ///< in words, one for each thing that raised the level
};
BOOST_DESCRIBE_STRUCT(Noise, (), (level, reasons))

/// How disturbed a run was on `cpus` processors (a quota may make that a fraction). The load counts as it
/// was before, as the run itself is part of the load after; pressure, steal and throttling count whoever
/// caused them. Facts that are absent raise nothing.
Noise judge(const NoiseFacts& before, const NoiseFacts& after, double cpus);

}  // namespace tare::measure
