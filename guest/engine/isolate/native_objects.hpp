#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <v8.h>

namespace tare::engine {

/// An object of C++ that JavaScript holds.
class NativeObject {
 public:
  NativeObject() = default;
  virtual ~NativeObject() = default;
  NativeObject(const NativeObject&) = delete;
  NativeObject& operator=(const NativeObject&) = delete;
};

/// Those of one guest: each is let go when JavaScript has no reference to it any more, or with the guest. A
/// member of Guest, used on its thread.
class NativeObjects {
 public:
  explicit NativeObjects(v8::Isolate* isolate) : isolate_(isolate) {}
  ~NativeObjects();
  NativeObjects(const NativeObjects&) = delete;
  NativeObjects& operator=(const NativeObjects&) = delete;

  /// What JavaScript gets for it: an object without members. `type` is the address of anything that stands
  /// for the class, for find() to tell it from others. Nothing when the guest is at its end.
  v8::MaybeLocal<v8::Object> hold(std::shared_ptr<NativeObject> object, const void* type);

  /// What `value` stands for; null if it is not of that type.
  std::shared_ptr<NativeObject> find(v8::Local<v8::Value> value, const void* type) const;

 private:
  struct Entry {
    NativeObjects* all;
    std::uint64_t id;
    const void* type;
    std::shared_ptr<NativeObject> object;
    v8::Global<v8::Object> handle;
  };
  static void forget(const v8::WeakCallbackInfo<Entry>& info);

  v8::Isolate* isolate_;
  v8::Global<v8::ObjectTemplate> template_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, std::unique_ptr<Entry>> entries_;
};

}  // namespace tare::engine
