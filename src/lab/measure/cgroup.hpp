#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include <boost/describe.hpp>

namespace tare::measure {

/// The control group of this process. The tightest limit of it and of the groups around it counts.
struct CgroupFacts {
  std::optional<std::uint64_t> version;  ///< 1 or 2; null when no group file system is mounted
  std::optional<double> cpu_quota;       ///< in processors; null when there is no limit or none is readable
  std::optional<std::uint64_t> memory_limit;  ///< in bytes; null when there is no limit or none is readable
  std::optional<std::uint64_t> nr_throttled;  ///< periods in which the group was stopped for its quota
  bool operator==(const CgroupFacts&) const = default;
};
BOOST_DESCRIBE_STRUCT(CgroupFacts, (), (version, cpu_quota, memory_limit, nr_throttled))

/// Reads the group from /proc/self/cgroup and /sys/fs/cgroup under `root`; `nr_throttled` counts since the
/// group was made. Never throws.
CgroupFacts read_cgroup(const std::filesystem::path& root = "/");

}  // namespace tare::measure
