#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tare::kernel {

/// How files that were written went back to the host.
struct Synced {
  std::uint64_t files = 0;  ///< that were put back
  std::uint64_t lost = 0;   ///< that were not: they stay in the shadow as long as the machine lives
  /// What went wrong, a line each, for a person; also of a file that is now beside another's. The first
  /// hundred.
  std::vector<std::string> problems;
  std::uint64_t more_problems = 0;  ///< that are not among those

  bool operator==(const Synced&) const = default;

  void add_problem(std::string problem) {
    constexpr std::size_t most = 100;
    if (problems.size() < most) {
      problems.push_back(std::move(problem));
    } else {
      ++more_problems;
    }
  }
  void add(Synced other) {
    files += other.files;
    lost += other.lost;
    more_problems += other.more_problems;
    for (std::string& problem : other.problems) add_problem(std::move(problem));
  }
};

}  // namespace tare::kernel
