#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <v8.h>

namespace tare::engine {

/// The JavaScript side of a guest: the context in which Node's library runs, and the functions that it handed
/// over to be called (`callbacks` in guest/compat). On the thread of its isolate, which must be entered.
class Realm {
 public:
  /// Out of a snapshot.
  explicit Realm(v8::Isolate* isolate);
  ~Realm() = default;
  Realm(const Realm&) = delete;
  Realm& operator=(const Realm&) = delete;

  v8::Isolate* isolate() const { return isolate_; }
  v8::Local<v8::Context> context() const { return context_.Get(isolate_); }

  /// A member of `callbacks`; undefined when there is none.
  v8::Local<v8::Value> callback(std::string_view name) const;

  /// Calls JavaScript from the loop, as Node's MakeCallback does: then run nextTick's queue and the
  /// microtasks; what is thrown goes the way of uncaught exceptions. Returns what the function returned, and
  /// nothing if it threw or the guest is at its end.
  v8::MaybeLocal<v8::Value> call(v8::Local<v8::Function> function,
                                 std::span<v8::Local<v8::Value>> arguments = {});
  v8::MaybeLocal<v8::Value> call(std::string_view callback, std::span<v8::Local<v8::Value>> arguments = {});

  /// The same without the queues behind it: for what only prepares.
  v8::MaybeLocal<v8::Value> call_bare(std::string_view callback,
                                      std::span<v8::Local<v8::Value>> arguments = {});

  /// Memory that JavaScript shares with the loop: the array `name` of `callbacks`, as it lies outside the
  /// heap.
  template <class T>
  T* shared(std::string_view name) const {
    return static_cast<T*>(shared_memory(name));
  }

  /// Lets the boot code run what programs begin with, if it has such a thing: it is warm then. Without a
  /// guest.
  void rehearse();

  /// Runs what JavaScript has queued: nextTick, then microtasks.
  void tick();

 private:
  void* shared_memory(std::string_view name) const;
  v8::MaybeLocal<v8::Value> invoke(v8::Local<v8::Function> function,
                                   std::span<v8::Local<v8::Value>> arguments);

  v8::Isolate* isolate_;
  v8::Global<v8::Context> context_;
  v8::Global<v8::Object> callbacks_;
  v8::Global<v8::Value> process_;  ///< `this` of every call, which stack traces show
  v8::Global<v8::Function> tick_;
  std::uint8_t* tick_info_ = nullptr;
};

enum class Thrower : std::uint8_t { program, promise };

/// What happens to an exception that nothing caught: process._fatalException, and if that does not want it,
/// the message on stderr and the end of the process with its code.
void trigger_uncaught(v8::Isolate* isolate, v8::Local<v8::Value> error, v8::Local<v8::Message> message,
                      Thrower thrower);

/// Sets the callbacks of V8 that JavaScript has a say in: stack traces, rejections.
void set_isolate_callbacks(v8::Isolate* isolate);

}  // namespace tare::engine
