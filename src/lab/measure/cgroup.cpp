#include "lab/measure/cgroup.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "lab/measure/facts.hpp"

namespace tare::measure {
namespace {

namespace fs = std::filesystem;

/// Where this process stands in the hierarchy of a controller ("" for version 2), as "/a/b".
std::optional<std::string> place(const fs::path& root, std::string_view controller) {
  const auto table = facts::text(root / "proc/self/cgroup");
  if (!table) return std::nullopt;
  for (const std::string& line : text::split(*table, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const auto names = text::split(std::string_view(line).substr(first + 1, second - first - 1), ',');
    if (std::ranges::find(names, controller) != names.end()) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// The folders of the group and of all groups around it, innermost first. Inside a container the path may
/// name a group that is not mounted here; what is mounted still holds the limits.
std::vector<fs::path> chain(const fs::path& mount, const std::string& place) {
  std::vector<fs::path> folders;
  fs::path relative = fs::path(place).relative_path().lexically_normal();
  if (!relative.empty() && *relative.begin() == "..") relative.clear();
  while (!relative.empty() && relative != ".") {
    folders.push_back(mount / relative);
    relative = relative.parent_path();
  }
  folders.push_back(mount);
  return folders;
}

template <class T>
void tighten(std::optional<T>& limit, std::optional<T> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

void widen(std::optional<std::uint64_t>& count, std::optional<std::uint64_t> other) {
  if (other) count = std::max(count.value_or(0), *other);
}

std::optional<std::uint64_t> throttled(const fs::path& folder) {
  const auto stat = facts::text(folder / "cpu.stat");
  const auto value = stat ? facts::value_of(*stat, "nr_throttled") : std::nullopt;
  return value ? facts::leading_number(*value) : std::nullopt;
}

/// cpu.max of version 2: "150000 100000" or "max 100000".
std::optional<double> quota_v2(const fs::path& folder) {
  const auto content = facts::text(folder / "cpu.max");
  if (!content) return std::nullopt;
  const auto parts = text::split(*content, ' ');
  const auto quota = facts::leading_number(parts[0]);
  const auto period = parts.size() > 1 ? facts::leading_number(parts[1]) : std::nullopt;
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

/// Version 1 writes −1 for no limit.
std::optional<double> quota_v1(const fs::path& folder) {
  const auto quota = facts::number(folder / "cpu.cfs_quota_us");
  const auto period = facts::number(folder / "cpu.cfs_period_us");
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

/// Version 1 writes the largest multiple of the page size for no limit.
std::optional<std::uint64_t> memory_v1(const fs::path& folder) {
  const auto limit = facts::number(folder / "memory.limit_in_bytes");
  return limit && *limit < (std::uint64_t{1} << 60) ? limit : std::nullopt;
}

CgroupFacts read_v2(const fs::path& root, const fs::path& mount) {
  CgroupFacts facts{.version = 2, .cpu_quota = {}, .memory_limit = {}, .nr_throttled = {}};
  for (const fs::path& folder : chain(mount, place(root, "").value_or("/"))) {
    tighten(facts.cpu_quota, quota_v2(folder));
    tighten(facts.memory_limit, facts::number(folder / "memory.max"));
    widen(facts.nr_throttled, throttled(folder));
  }
  return facts;
}

CgroupFacts read_v1(const fs::path& root, const fs::path& mount) {
  CgroupFacts facts;
  std::error_code error;
  for (const char* name : {"cpu", "cpu,cpuacct"}) {
    if (!fs::is_directory(mount / name, error)) continue;
    facts.version = 1;
    for (const fs::path& folder : chain(mount / name, place(root, "cpu").value_or("/"))) {
      tighten(facts.cpu_quota, quota_v1(folder));
      widen(facts.nr_throttled, throttled(folder));
    }
  }
  if (fs::is_directory(mount / "memory", error)) {
    facts.version = 1;
    for (const fs::path& folder : chain(mount / "memory", place(root, "memory").value_or("/"))) {
      tighten(facts.memory_limit, memory_v1(folder));
    }
  }
  return facts;
}

}  // namespace

CgroupFacts read_cgroup(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  std::error_code error;
  return fs::exists(mount / "cgroup.controllers", error) ? read_v2(root, mount) : read_v1(root, mount);
}

}  // namespace tare::measure
