#include "engine/isolate/receive_room.hpp"

namespace tare::engine {
namespace {

void free_room(void* data, std::size_t, void* owner) {
  const std::unique_ptr<std::shared_ptr<Buffers>> buffers(static_cast<std::shared_ptr<Buffers>*>(owner));
  (*buffers)->Free(data, ReceiveRoom::size);
}

}  // namespace

std::span<std::byte> ReceiveRoom::get() {
  if (data_ == nullptr) data_ = buffers_->blocks().allocate(size, KeptBlocks::Contents::any);
  return {static_cast<std::byte*>(data_), data_ == nullptr ? 0 : size};
}

std::unique_ptr<v8::BackingStore> ReceiveRoom::hand_over(std::size_t used) {
  if (!buffers_->take(size)) return nullptr;
  auto owner = std::make_unique<std::shared_ptr<Buffers>>(buffers_);
  return v8::ArrayBuffer::NewBackingStore(std::exchange(data_, nullptr), used, free_room, owner.release());
}

void ReceiveRoom::drop() {
  if (data_ != nullptr) buffers_->blocks().free(std::exchange(data_, nullptr), size);
}

}  // namespace tare::engine
