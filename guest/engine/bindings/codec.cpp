#include "engine/bindings/codec.hpp"

#include <new>
#include <utility>

namespace tare::engine {

/// Before what the stream gets: in a list, as not every stream can be asked to free its own.
struct alignas(16) CodecMemory::Block {
  Block* next;
  Block* before;
  std::size_t size;  ///< with this
};

void* CodecMemory::allocate(std::size_t size) {
  const std::size_t whole = size + sizeof(Block);
  if (whole < size) return nullptr;
  void* memory = budget_->allocate_other(whole);
  if (memory == nullptr) return nullptr;
  auto* block = new (memory) Block{first_, nullptr, whole};
  if (first_ != nullptr) first_->before = block;
  first_ = block;
  used_ += whole;
  return block + 1;
}

void CodecMemory::release(void* memory) {
  if (memory == nullptr) return;
  Block* block = static_cast<Block*>(memory) - 1;
  (block->before != nullptr ? block->before->next : first_) = block->next;
  if (block->next != nullptr) block->next->before = block->before;
  used_ -= block->size;
  budget_->free_other(block, block->size);
}

void CodecMemory::clear() {
  while (first_ != nullptr) release(first_ + 1);
}

std::shared_ptr<ParameterCodec> make_parameter_codec(ParameterKind kind, std::shared_ptr<Buffers> budget) {
  switch (kind) {
    case ParameterKind::brotli_encoder:
      return make_brotli_encoder(std::move(budget));
    case ParameterKind::brotli_decoder:
      return make_brotli_decoder(std::move(budget));
    case ParameterKind::zstd_compress:
      return make_zstd_compress(std::move(budget));
    case ParameterKind::zstd_decompress:
      return make_zstd_decompress(std::move(budget));
  }
  return nullptr;
}

}  // namespace tare::engine
