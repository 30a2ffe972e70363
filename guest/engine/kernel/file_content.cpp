#include "engine/kernel/file_content.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/kernel/limits.hpp"

namespace tare::kernel {
namespace {

constexpr std::uint32_t part_bytes = 64 << 10;
constexpr std::uint32_t step_bytes = 512;

std::uint32_t charge_of(std::uint32_t size) {
  return (size + step_bytes - 1) / step_bytes * step_bytes;
}

}  // namespace

std::int64_t FileContent::offset_of(std::uint64_t index) {
  return static_cast<std::int64_t>(index * part_bytes);
}

FileContent::~FileContent() {
  release(stored_);
}

void FileContent::release(std::uint64_t charge) {
  stored_ -= charge;
  usage_.bytes.fetch_sub(charge);
}

std::size_t FileContent::read(std::span<std::byte> into, std::int64_t offset) const {
  if (offset >= size_) return 0;
  const auto count = std::min<std::uint64_t>(into.size(), static_cast<std::uint64_t>(size_ - offset));
  std::size_t done = 0;
  while (done < count) {
    const std::uint64_t at = static_cast<std::uint64_t>(offset) + done;
    const auto begin = static_cast<std::uint32_t>(at % part_bytes);
    const auto take = static_cast<std::uint32_t>(std::min<std::uint64_t>(part_bytes - begin, count - done));
    std::byte* out = into.data() + done;
    std::uint32_t stored = 0;
    const auto part = parts_.find(at / part_bytes);
    if (part != parts_.end() && part->second.size > begin) {
      stored = std::min(take, part->second.size - begin);
      std::memcpy(out, part->second.bytes.get() + begin, stored);
    }
    std::memset(out + stored, 0, take - stored);
    done += take;
  }
  return done;
}

// Makes the part hold `size` bytes, or as many as the limit leaves; how many it holds then.
std::uint32_t FileContent::grow(Part& part, std::uint32_t size) {
  if (size <= part.size) return part.size;
  const std::uint32_t held = charge_of(part.size);
  const std::uint64_t free = usage_.bytes_free() / step_bytes * step_bytes;
  const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(held + free, part_bytes));
  size = std::min(size, std::max(most, part.size));
  if (size == part.size) return size;
  const std::uint32_t more = charge_of(size) - held;
  if (size > part.capacity) {
    const std::uint32_t capacity = std::min(part_bytes, std::max(size, 2 * part.capacity));
    auto bytes = std::make_unique_for_overwrite<std::byte[]>(capacity);
    if (part.size > 0) std::memcpy(bytes.get(), part.bytes.get(), part.size);
    part.bytes = std::move(bytes);
    part.capacity = capacity;
  }
  std::memset(part.bytes.get() + part.size, 0, size - part.size);
  part.size = size;
  stored_ += more;
  usage_.bytes.fetch_add(more);
  return size;
}

// Memory goes back too: what is charged bounds what is held.
void FileContent::shrink(Part& part, std::uint32_t size) {
  if (size >= part.size) return;
  release(charge_of(part.size) - charge_of(size));
  part.size = size;
  if (size > part.capacity / 2) return;
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(size);
  if (size > 0) std::memcpy(bytes.get(), part.bytes.get(), size);
  part.bytes = std::move(bytes);
  part.capacity = size;
}

Result<std::size_t> FileContent::write(std::span<const std::byte> bytes, std::int64_t offset) {
  if (bytes.empty()) return std::size_t{0};
  if (offset >= max_file_size) return Errno{EFBIG};
  const auto count =
      std::min<std::uint64_t>(bytes.size(), static_cast<std::uint64_t>(max_file_size - offset));
  std::size_t done = 0;
  while (done < count) {
    const std::uint64_t at = static_cast<std::uint64_t>(offset) + done;
    const auto begin = static_cast<std::uint32_t>(at % part_bytes);
    const auto want = static_cast<std::uint32_t>(std::min<std::uint64_t>(part_bytes - begin, count - done));
    const auto part = parts_.try_emplace(at / part_bytes).first;
    const std::uint32_t held = part->second.size;
    const std::uint32_t holds = grow(part->second, begin + want);
    if (holds <= begin) {
      shrink(part->second, held);
      if (held == 0) parts_.erase(part);
      break;
    }
    const std::uint32_t take = std::min(want, holds - begin);
    std::memcpy(part->second.bytes.get() + begin, bytes.data() + done, take);
    done += take;
    if (take < want) break;
  }
  if (done < count && usage_.counters) usage_.counters->refused(Refusal::file_byte_limit);
  if (done == 0) return Errno{ENOSPC};
  size_ = std::max(size_, offset + static_cast<std::int64_t>(done));
  return done;
}

Result<void> FileContent::truncate(std::int64_t size) {
  if (size > max_file_size) return Errno{EFBIG};
  if (size < size_) {
    const auto whole = static_cast<std::uint64_t>(size) / part_bytes;
    const auto rest = static_cast<std::uint32_t>(static_cast<std::uint64_t>(size) % part_bytes);
    auto part = parts_.lower_bound(whole);
    if (part != parts_.end() && part->first == whole && rest > 0) {
      shrink(part->second, rest);
      ++part;
    }
    while (part != parts_.end()) {
      release(charge_of(part->second.size));
      part = parts_.erase(part);
    }
  }
  size_ = size;
  return {};
}

Result<void> FileContent::copy_from(const FileContent& other) {
  if (auto emptied = truncate(0); !emptied.ok()) return emptied;
  for (const auto& [index, part] : other.parts_) {
    const std::span<const std::byte> bytes(part.bytes.get(), part.size);
    const auto written = write(bytes, offset_of(index));
    if (!written.ok() || *written < bytes.size()) {
      (void)truncate(0);
      return Errno{written.ok() ? ENOSPC : written.error()};
    }
  }
  return truncate(other.size());
}

}  // namespace tare::kernel
