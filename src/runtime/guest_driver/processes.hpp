#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What the kernel of the host holds for this driver and its engine.
namespace tare::guest_driver {

struct Facts {
  std::int64_t fds = 0;
  std::int64_t threads = 0;
  std::int64_t zombies = 0;
};

/// Of this process and these others, together. Zombies are dead children of any of them.
Facts facts_of(const std::vector<int>& others);

/// Proportional set size of all of them in bytes; nothing when that of one cannot be read.
std::optional<std::uint64_t> pss_of(const std::vector<int>& pids);

/// Why a row that reads memory could tell nothing of these processes, if it could not.
std::optional<std::string> why_no_memory(const std::vector<int>& pids);

/// How many of them run.
std::int64_t running(const std::vector<int>& pids);

}  // namespace tare::guest_driver
