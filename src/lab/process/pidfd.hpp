#pragma once

#include <csignal>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.hpp"

/// Handles on processes. Called by number: glibc 2.36's <sys/pidfd.h> cannot be linked from C++.
namespace tare::process {

/// A descriptor (CLOEXEC) that poll finds readable once the process has exited; empty, with errno, when
/// there is no such process.
inline Fd open_pidfd(pid_t pid) {
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

/// kill(2) that cannot reach another process that got the same number. False, with errno, when it failed.
inline bool signal_pidfd(const Fd& pidfd, int number) {
  return ::syscall(SYS_pidfd_send_signal, pidfd.get(), number, nullptr, 0) == 0;
}

}  // namespace tare::process
