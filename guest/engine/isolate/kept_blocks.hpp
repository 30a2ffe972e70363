#pragma once

#include <array>
#include <cstddef>
#include <mutex>

namespace tare::engine {

/// Memory of a guest's large buffers, kept for its next ones: a program that streams frees and asks for some
/// of one size all the time, and the allocator would give their pages back and fault them in again. 8 MiB at
/// most, never shared with another guest. Thread-safe: V8 frees from its own threads, too.
class KeptBlocks {
 public:
  KeptBlocks() = default;
  ~KeptBlocks();
  KeptBlocks(const KeptBlocks&) = delete;
  KeptBlocks& operator=(const KeptBlocks&) = delete;

  /// At least `length` bytes, with what was in them before if `contents` says so; null when there is no
  /// memory.
  enum class Contents { zero, any };
  void* allocate(std::size_t length, Contents contents);
  /// What `allocate` gave for that length.
  void free(void* data, std::size_t length);
  /// Keeps nothing of what is free now.
  void trim();

 private:
  struct Block {
    void* data = nullptr;
    std::size_t size = 0;
  };
  void* take(std::size_t size);
  bool keep(Block block);

  std::mutex mutex_;
  std::array<Block, 128> blocks_;  ///< the first `count_` are there
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace tare::engine
