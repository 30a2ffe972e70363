#pragma once

#include <optional>

#include <sys/types.h>

#include "base/clock.hpp"

namespace tare::lab_gateway {

/// CPU time since some start of its own.
struct CpuTime {
  Nanoseconds user{};
  Nanoseconds system{};
  Nanoseconds total() const { return user + system; }
};

/// Of a process and its descendants, children that they waited for included; nothing when it is gone. The sum
/// of user and system time is exact for what runs (the process's CPU clock), and in steps of 10 ms for
/// children that were waited for. How it divides into the two is known to 10 ms a process. What a descendant
/// used whose parent ended before it is in it no more.
std::optional<CpuTime> tree_cpu_of(pid_t pid);

/// Of the first thread of a process, exact (schedstat); divided as above.
std::optional<CpuTime> main_thread_cpu_of(pid_t pid);

}  // namespace tare::lab_gateway
