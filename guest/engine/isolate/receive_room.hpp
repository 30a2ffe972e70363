#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <v8.h>

#include "engine/isolate/isolate.hpp"

namespace tare::engine {

/// Where a guest's streams are read into, before it is known how much there is. On the guest's thread.
class ReceiveRoom {
 public:
  /// What Node reads at once, and a page more: a line of 64 KiB comes with its end, in one piece.
  static constexpr std::size_t size = std::size_t{68} << 10;

  explicit ReceiveRoom(std::shared_ptr<Buffers> buffers) : buffers_(std::move(buffers)) {}
  ~ReceiveRoom() { drop(); }
  ReceiveRoom(const ReceiveRoom&) = delete;
  ReceiveRoom& operator=(const ReceiveRoom&) = delete;

  /// `size` bytes, not initialised; empty when there is no memory.
  std::span<std::byte> get();
  /// The first `used` bytes of what get() gave, as they lie there. Null when the guest's budget is used up.
  std::unique_ptr<v8::BackingStore> hand_over(std::size_t used);
  /// Gives the memory back until it is asked for again.
  void drop();

 private:
  std::shared_ptr<Buffers> buffers_;
  void* data_ = nullptr;
};

}  // namespace tare::engine
