#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tare::kernel {

/// What was refused, one counter each.
enum class Refusal {
  fs_permission,
  network_permission,
  child_process_permission,
  process_limit,
  open_file_limit,
  file_byte_limit,
  inode_limit,
};
inline constexpr std::size_t refusal_count = 7;

/// What happened in a Vm since it was made. Thread-safe; the numbers are read one by one, not at one moment.
class Counters {
 public:
  std::atomic<std::uint64_t> processes_started{0};
  std::atomic<std::uint64_t> processes_ended{0};
  /// Bytes that went into and came out of pipes.
  std::atomic<std::uint64_t> pipe_bytes_written{0};
  std::atomic<std::uint64_t> pipe_bytes_read{0};
  /// Pipes that exist now.
  std::atomic<std::uint64_t> pipes_open{0};
  /// Bytes written to and read from files.
  std::atomic<std::uint64_t> file_bytes_written{0};
  std::atomic<std::uint64_t> file_bytes_read{0};

  void refused(Refusal what) {
    refusals_[static_cast<std::size_t>(what)].fetch_add(1, std::memory_order_relaxed);
  }
  std::uint64_t refusals(Refusal what) const {
    return refusals_[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, refusal_count> refusals_{};
};

}  // namespace tare::kernel
