#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace tare::kernel {

/// What the processes of one Vm may use. A refusal is an errno that the guest can catch; only what no errno
/// can stop (memory, time, output that nobody bounds) ends the guest, and its Exit says why.
struct Limits {
  /// Live processes and zombies of the Vm: EAGAIN from spawn. At most 4,000, as pids wrap at 32,768.
  std::uint32_t processes = 64;
  /// Open descriptors of one process: EMFILE.
  std::uint32_t open_files = 1024;
  /// Bytes that the files of the Vm hold (in steps of 512 for each 64 KiB part of a file): ENOSPC.
  std::uint64_t file_bytes = 256ull << 20;
  /// Files, directories and links of the Vm: ENOSPC. Names of one file (hard links) count one each.
  std::uint64_t inodes = 100'000;
  /// Bytes that one process may write to its outer stdout and stderr. Enforced by who serves those.
  std::optional<std::uint64_t> output_bytes = std::nullopt;
  /// V8 heap of one process. Enforced by the isolate, as are those below.
  std::uint64_t heap_bytes = 128ull << 20;
  /// ArrayBuffers and the like of one process, beside the heap: RangeError in the guest.
  std::uint64_t array_buffer_bytes = 128ull << 20;
  /// From the start of a process to its end.
  std::optional<std::chrono::milliseconds> run_time = std::nullopt;
  /// CPU time of one process.
  std::optional<std::chrono::milliseconds> cpu_time = std::nullopt;
};

inline constexpr std::uint32_t max_processes = 4'000;
inline constexpr int max_pid = 32'768;
/// The largest file, however sparse (EFBIG): 2^53 - 1, what a number of JavaScript can say.
inline constexpr std::int64_t max_file_size = (std::int64_t{1} << 53) - 1;

}  // namespace tare::kernel
