#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "engine/kernel/counters.hpp"
#include "engine/kernel/result.hpp"

namespace tare::kernel {

/// What the files of a Vm take, and may take. Growing happens under the lock of the file system; shrinking
/// may happen anywhere, as when the last descriptor of an unlinked file goes.
struct Usage {
  const std::uint64_t byte_limit;
  const std::uint64_t inode_limit;
  const std::shared_ptr<Counters> counters;
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> inodes{0};
  std::atomic<std::uint64_t> names{0};

  std::uint64_t bytes_free() const {
    const std::uint64_t used = bytes.load();
    return used < byte_limit ? byte_limit - used : 0;
  }
};

/// The bytes of one regular file, in parts of 64 KiB of which only those written are stored, each up to its
/// last byte written. Stored bytes are charged in steps of 512. Guarded by the lock of the file system.
class FileContent {
 public:
  explicit FileContent(Usage& usage) : usage_(usage) {}
  ~FileContent();
  FileContent(const FileContent&) = delete;
  FileContent& operator=(const FileContent&) = delete;

  std::int64_t size() const { return size_; }
  /// In bytes, a multiple of 512.
  std::uint64_t stored() const { return stored_; }

  std::size_t read(std::span<std::byte> into, std::int64_t offset) const;
  /// Writes what fits. ENOSPC when nothing does, EFBIG at the largest size.
  Result<std::size_t> write(std::span<const std::byte> bytes, std::int64_t offset);
  /// EFBIG above the largest size. Growing stores nothing.
  Result<void> truncate(std::int64_t size);
  /// Calls `use` with each stored part and its offset, in order, until that fails.
  template <class Use>
  Result<void> for_each_part(const Use& use) const {
    for (const auto& [index, part] : parts_) {
      const std::span<const std::byte> bytes(part.bytes.get(), part.size);
      if (const auto used = use(bytes, offset_of(index)); !used.ok()) return used;
    }
    return {};
  }
  /// The same bytes as `other`; holes stay holes. ENOSPC leaves it empty.
  Result<void> copy_from(const FileContent& other);

 private:
  struct Part {
    std::unique_ptr<std::byte[]> bytes;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
  };
  static std::int64_t offset_of(std::uint64_t index);
  std::uint32_t grow(Part& part, std::uint32_t size);
  void shrink(Part& part, std::uint32_t size);
  void release(std::uint64_t charge);

  Usage& usage_;
  std::int64_t size_ = 0;
  std::uint64_t stored_ = 0;
  std::map<std::uint64_t, Part> parts_;
};

}  // namespace tare::kernel
