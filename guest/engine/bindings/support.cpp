#include "engine/bindings/support.hpp"

#include <cstring>
#include <memory>
#include <utility>

namespace tare::engine {

std::span<std::uint8_t> memory_of(v8::Local<v8::Value> value) {
  if (value->IsArrayBufferView()) {
    const v8::Local<v8::ArrayBufferView> view = value.As<v8::ArrayBufferView>();
    const std::size_t size = view->ByteLength();
    if (size == 0) return {};
    return {static_cast<std::uint8_t*>(view->Buffer()->Data()) + view->ByteOffset(), size};
  }
  if (value->IsArrayBuffer()) {
    const v8::Local<v8::ArrayBuffer> buffer = value.As<v8::ArrayBuffer>();
    return {static_cast<std::uint8_t*>(buffer->Data()), buffer->ByteLength()};
  }
  if (value->IsSharedArrayBuffer()) {
    const v8::Local<v8::SharedArrayBuffer> buffer = value.As<v8::SharedArrayBuffer>();
    return {static_cast<std::uint8_t*>(buffer->Data()), buffer->ByteLength()};
  }
  return {};
}

Bytes::Bytes(v8::Local<v8::Value> value) {
  if (value->IsArrayBufferView()) {
    const v8::Local<v8::ArrayBufferView> view = value.As<v8::ArrayBufferView>();
    if (!view->HasBuffer() && view->ByteLength() <= small_.size()) {
      span_ = {small_.data(), view->CopyContents(small_.data(), small_.size())};
      return;
    }
  }
  span_ = memory_of(value);
}

bool has_bytes(v8::Local<v8::Value> value) {
  return value->IsArrayBufferView() || value->IsArrayBuffer() || value->IsSharedArrayBuffer();
}

v8::MaybeLocal<v8::ArrayBuffer> make_memory(v8::Isolate* isolate, std::size_t size) {
  std::unique_ptr<v8::BackingStore> store;
  if (size <= v8::TypedArray::kMaxByteLength) {
    store =
        v8::ArrayBuffer::NewBackingStore(isolate, size, v8::BackingStoreInitializationMode::kUninitialized,
                                         v8::BackingStoreOnFailureMode::kReturnNull);
  }
  if (store == nullptr) {
    throw_error(isolate, ErrorKind::range, "ERR_MEMORY_ALLOCATION_FAILED", "Failed to allocate memory");
    return {};
  }
  return v8::ArrayBuffer::New(isolate, std::move(store));
}

v8::MaybeLocal<v8::Uint8Array> make_bytes(v8::Isolate* isolate, std::span<const std::uint8_t> bytes) {
  v8::Local<v8::ArrayBuffer> buffer;
  if (!make_memory(isolate, bytes.size()).ToLocal(&buffer)) return {};
  if (!bytes.empty()) std::memcpy(buffer->Data(), bytes.data(), bytes.size());
  return v8::Uint8Array::New(buffer, 0, bytes.size());
}

v8::Local<v8::Object> make_error(v8::Isolate* isolate, ErrorKind kind, std::string_view code,
                                 std::string_view message) {
  const v8::Local<v8::String> text = to_v8(isolate, message);
  const v8::Local<v8::Value> error = kind == ErrorKind::type    ? v8::Exception::TypeError(text)
                                     : kind == ErrorKind::range ? v8::Exception::RangeError(text)
                                                                : v8::Exception::Error(text);
  set(isolate, error.As<v8::Object>(), "code", key(isolate, code));
  return error.As<v8::Object>();
}

void throw_error(v8::Isolate* isolate, ErrorKind kind, std::string_view code, std::string_view message) {
  isolate->ThrowException(make_error(isolate, kind, code, message));
}

std::optional<std::size_t> index_argument(v8::Isolate* isolate, v8::Local<v8::Value> value,
                                          std::size_t otherwise) {
  if (value->IsUndefined()) return otherwise;
  std::int64_t index = 0;
  if (!value->IntegerValue(isolate->GetCurrentContext()).To(&index)) return std::nullopt;
  if (index < 0) {
    throw_error(isolate, ErrorKind::range, "ERR_OUT_OF_RANGE", "Index out of range");
    return std::nullopt;
  }
  return static_cast<std::size_t>(index);
}

}  // namespace tare::engine
