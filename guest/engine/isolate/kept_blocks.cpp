#include "engine/isolate/kept_blocks.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tare::engine {
namespace {

constexpr std::size_t step = std::size_t{16} << 10;  ///< sizes that differ by less fit one another
constexpr std::size_t smallest = step;
constexpr std::size_t largest = std::size_t{256} << 10;
constexpr std::size_t most_bytes = std::size_t{8} << 20;

bool is_kept(std::size_t length) {
  return length >= smallest && length <= largest;
}

std::size_t rounded(std::size_t length) {
  return (length + step - 1) / step * step;
}

}  // namespace

KeptBlocks::~KeptBlocks() {
  trim();
}

void KeptBlocks::trim() {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < count_; ++i) std::free(blocks_[i].data);
  count_ = 0;
  bytes_ = 0;
}

void* KeptBlocks::allocate(std::size_t length, Contents contents) {
  if (!is_kept(length)) return std::calloc(length == 0 ? 1 : length, 1);
  void* data = take(rounded(length));
  if (data == nullptr) return std::calloc(rounded(length), 1);
  if (contents == Contents::zero) std::memset(data, 0, length);
  return data;
}

void KeptBlocks::free(void* data, std::size_t length) {
  if (data == nullptr || (is_kept(length) && keep({data, rounded(length)}))) return;
  std::free(data);
}

void* KeptBlocks::take(std::size_t size) {
  const std::lock_guard lock(mutex_);
  const auto end = blocks_.begin() + static_cast<std::ptrdiff_t>(count_);
  const auto found =
      std::find_if(blocks_.begin(), end, [&](const Block& block) { return block.size == size; });
  if (found == end) return nullptr;
  void* data = found->data;
  *found = blocks_[--count_];
  bytes_ -= size;
  return data;
}

bool KeptBlocks::keep(Block block) {
  const std::lock_guard lock(mutex_);
  if (count_ == blocks_.size() || bytes_ + block.size > most_bytes) return false;
  blocks_[count_++] = block;
  bytes_ += block.size;
  return true;
}

}  // namespace tare::engine
