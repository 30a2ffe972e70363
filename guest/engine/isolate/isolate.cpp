#include "engine/isolate/isolate.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "engine/isolate/containment.hpp"
#include "engine/isolate/native.hpp"

namespace tare::engine {

Engine& engine() {
  static Engine* const one = new Engine;  // never destroyed: guests that can't be stopped may still use it
  return *one;
}

bool Buffers::take(std::size_t length) {
  const std::uint64_t before = used_.fetch_add(length, std::memory_order_relaxed);
  constexpr std::size_t in_heap = 64;  // the longest typed array that V8 keeps in its heap
  if (length <= in_heap || before + length <= most_.load(std::memory_order_relaxed)) return true;
  used_.fetch_sub(length, std::memory_order_relaxed);
  return false;
}

void* Buffers::Allocate(std::size_t length) {
  return take(length) ? blocks_.allocate(length, KeptBlocks::Contents::zero) : nullptr;
}

void* Buffers::AllocateUninitialized(std::size_t length) {
  // What was there before is this guest's own, or nothing: never another guest's.
  return take(length) ? blocks_.allocate(length, KeptBlocks::Contents::any) : nullptr;
}

void Buffers::Free(void* data, std::size_t length) {
  give_back(length);
  blocks_.free(data, length);
}

void* Buffers::allocate_other(std::size_t length) {
  const auto size = static_cast<std::int64_t>(length);
  const std::int64_t before = others_.fetch_add(size);
  if (size >= 0 && static_cast<std::uint64_t>(before) + length <= most_others()) {
    void* data = std::malloc(length);
    if (data != nullptr) return data;
  }
  others_ -= size;
  return nullptr;
}

void Buffers::free_other(void* data, std::size_t length) {
  others_ -= static_cast<std::int64_t>(length);
  std::free(data);
}

void Buffers::make_room(v8::Isolate* isolate) {
  const auto most = static_cast<std::int64_t>(most_others());
  const std::int64_t now = others_.load();
  if (now < most / 2 || now - collected_ < most / 8) {
    collected_ = std::min(collected_, now);
    return;
  }
  isolate->LowMemoryNotification();
  collected_ = others_.load();
}

void Buffers::tell_others(v8::Isolate* isolate) {
  const std::int64_t now = others_.load();
  const std::int64_t before = std::exchange(told_, now);
  if (now != before) isolate->AdjustAmountOfExternalAllocatedMemory(now - before);
}

IsolateOwner::IsolateOwner(Origin origin, Limits limits)
    : buffers_(std::make_shared<Buffers>(limits.array_buffer_bytes)) {
  v8::Isolate::CreateParams params;
  params.array_buffer_allocator_shared = buffers_;  // a worker may hold a backing store for longer
  params.external_references = engine().references.data();
  if (origin == Origin::snapshot) params.snapshot_blob = engine().snapshot;
  params.constraints.ConfigureDefaultsFromHeapSize(0, limits.heap_bytes);
  isolate_ = v8::Isolate::Allocate();
  engine().platform->RegisterIsolate(isolate_, &delegate_);
  v8::Isolate::Initialize(isolate_, params);
  isolate_->SetMicrotasksPolicy(v8::MicrotasksPolicy::kExplicit);
  contain_failures(isolate_);
}

IsolateOwner::~IsolateOwner() {
  delegate_.tasks().clear();
  // In one step: another thread may get the same address for its isolate as soon as this one is freed.
  engine().platform->DisposeIsolate(isolate_);
}

}  // namespace tare::engine
