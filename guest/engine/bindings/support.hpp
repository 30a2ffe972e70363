#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <v8.h>

#include "engine/isolate/native.hpp"

/// What natives have in common: bytes of views, arguments, errors that carry a code.
namespace tare::engine {

/// The memory of an ArrayBuffer, a SharedArrayBuffer or a view of either; empty for anything else and for
/// what is detached. Moves a small array out of V8's heap if it lies there, hence for whoever writes.
std::span<std::uint8_t> memory_of(v8::Local<v8::Value> value);

/// The same to read from: a small array stays in the heap and is copied. The span lives as long as this does
/// and until JavaScript runs again.
class Bytes {
 public:
  explicit Bytes(v8::Local<v8::Value> value);
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  std::span<const std::uint8_t> span() const { return span_; }
  const std::uint8_t* data() const { return span_.data(); }
  std::size_t size() const { return span_.size(); }
  std::string_view text() const { return {reinterpret_cast<const char*>(span_.data()), span_.size()}; }

 private:
  std::array<std::uint8_t, 64> small_;
  std::span<const std::uint8_t> span_;
};

bool has_bytes(v8::Local<v8::Value> value);

/// A Uint8Array with a copy of the bytes; throws a RangeError in JavaScript when there is no memory.
v8::MaybeLocal<v8::Uint8Array> make_bytes(v8::Isolate* isolate, std::span<const std::uint8_t> bytes);

/// Memory that isn't set to anything, or nothing with ERR_MEMORY_ALLOCATION_FAILED thrown.
v8::MaybeLocal<v8::ArrayBuffer> make_memory(v8::Isolate* isolate, std::size_t size);

enum class ErrorKind : std::uint8_t { error, type, range };

/// An error as Node's C++ makes it: an own enumerable `code`.
v8::Local<v8::Object> make_error(v8::Isolate* isolate, ErrorKind kind, std::string_view code,
                                 std::string_view message);
void throw_error(v8::Isolate* isolate, ErrorKind kind, std::string_view code, std::string_view message);

/// An argument that is an index: `otherwise` if undefined; nothing, with ERR_OUT_OF_RANGE thrown, if
/// negative.
std::optional<std::size_t> index_argument(v8::Isolate* isolate, v8::Local<v8::Value> value,
                                          std::size_t otherwise);

/// Sets a member that a program sees. Only for objects that were made here. Defines it: a setter that the
/// program gave Object.prototype has no say, and nothing is set when the process is at its end.
inline void set(v8::Isolate* isolate, v8::Local<v8::Object> object, std::string_view name,
                v8::Local<v8::Value> value) {
  std::ignore = object->CreateDataProperty(isolate->GetCurrentContext(), key(isolate, name), value);
}

}  // namespace tare::engine
