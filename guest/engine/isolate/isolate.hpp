#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <v8.h>
#include <vector>

#include "engine/isolate/kept_blocks.hpp"
#include "engine/isolate/pack.hpp"
#include "engine/isolate/platform.hpp"
#include "protocol/messages.hpp"

namespace tare::engine {

/// What every isolate of the process is made of. Immutable once isolates exist, but for the snapshot; lives
/// until the process ends.
struct Engine {
  node::MultiIsolatePlatform* platform = nullptr;
  std::unique_ptr<Pack> pack;
  std::vector<std::intptr_t> references;
  /// Of isolates from now on. Those that exist keep the one that they were made of: none is ever deleted.
  std::atomic<const v8::StartupData*> snapshot{nullptr};
  /// Tells the client something; thread-safe. Null while there is none.
  std::function<void(guest::Level, const std::string&)> log;
};

/// The one of this process. Set up before the first isolate.
Engine& engine();

/// ArrayBuffers of one guest, up to a budget: beyond it V8 throws a RangeError in the guest. A typed array
/// that lies in V8's heap, and so counts there, still gets the few bytes that it moves to, as V8 can't do
/// without.
class Buffers final : public v8::ArrayBuffer::Allocator {
 public:
  explicit Buffers(std::uint64_t most) : most_(most) {}
  void* Allocate(std::size_t length) override;
  void* AllocateUninitialized(std::size_t length) override;
  void Free(void* data, std::size_t length) override;
  void set_most(std::uint64_t most) { most_ = most; }
  /// Where it is taken from, for what V8 does not ask for: see take().
  KeptBlocks& blocks() { return blocks_; }
  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }

  /// Memory that is no ArrayBuffer's, such as that of zlib's streams, most of which is never touched: up to
  /// twice that budget, and beside it, as it must not fail because of ArrayBuffers that are garbage. Any
  /// thread; null beyond that.
  void* allocate_other(std::size_t length);
  void free_other(void* data, std::size_t length);

  // On the guest's thread.
  /// Lets V8 know how much of that there is, so that it collects what holds it.
  void tell_others(v8::Isolate* isolate);
  /// Before more of it is needed: a collection, if much has been taken since the last one and little is left.
  void make_room(v8::Isolate* isolate);
  /// What V8 was told.
  std::uint64_t told() const { return static_cast<std::uint64_t>(told_); }

  /// For memory that natives hold for the guest elsewhere: counts it, false when it is beyond the budget. Any
  /// thread.
  bool take(std::size_t length);
  void give_back(std::size_t length) { used_.fetch_sub(length, std::memory_order_relaxed); }

 private:
  std::uint64_t most_others() const { return most_.load(std::memory_order_relaxed) * 2; }

  KeptBlocks blocks_;
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::int64_t> others_{0};
  std::int64_t told_ = 0;       ///< of those, to V8
  std::int64_t collected_ = 0;  ///< what there was after the last collection
  std::atomic<std::uint64_t> most_;
};

enum class Origin : std::uint8_t { snapshot, nothing };

/// An isolate that Node's platform knows. Made, entered and disposed of on one thread.
class IsolateOwner {
 public:
  struct Limits {
    std::uint64_t heap_bytes;
    std::uint64_t array_buffer_bytes;
  };
  IsolateOwner(Origin origin, Limits limits);
  ~IsolateOwner();
  IsolateOwner(const IsolateOwner&) = delete;
  IsolateOwner& operator=(const IsolateOwner&) = delete;

  v8::Isolate* get() const { return isolate_; }
  ForegroundTasks& tasks() { return delegate_.tasks(); }
  Buffers& buffers() { return *buffers_; }
  /// For memory that may outlive the isolate.
  const std::shared_ptr<Buffers>& shared_buffers() { return buffers_; }

 private:
  std::shared_ptr<Buffers> buffers_;
  Delegate delegate_;
  v8::Isolate* isolate_ = nullptr;
};

/// Runs the boot code of guest/compat in a fresh isolate and returns the start-up snapshot. If the code
/// throws, says what on stderr and ends the process: V8 can't take a snapshot back that was begun.
std::string build_snapshot(guest::Library library);

/// Writes the snapshot anew, and makes isolates of that from now on: it has the hashes of this process, which
/// V8 computes again, string by string and table by table, for each isolate of one that another process has
/// written. Worth it where many are made: it takes as long as a few dozen. To be called once, on a thread of
/// its own.
void adopt_snapshot();
bool has_adopted_snapshot();

}  // namespace tare::engine
