#include "engine/bindings/sys.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace tare::engine::sys {

using v8::Local;
using v8::Value;

std::string bytes(v8::Isolate* isolate, Local<Value> value) {
  if (value->IsString()) {
    const Local<v8::String> text = value.As<v8::String>();
    std::string result(text->Utf8LengthV2(isolate), '\0');
    text->WriteUtf8V2(isolate, result.data(), result.size(), v8::String::WriteFlags::kReplaceInvalidUtf8);
    return result;
  }
  const std::span<std::byte> view = memory(value);
  return {reinterpret_cast<const char*>(view.data()), view.size()};
}

std::int64_t integer(const Arguments& args, int at, std::int64_t otherwise) {
  const Local<Value> value = args[at];
  if (value->IsInt32()) return value.As<v8::Int32>()->Value();
  if (value->IsBigInt()) return value.As<v8::BigInt>()->Int64Value();
  if (!value->IsNumber()) return otherwise;
  const double number = value.As<v8::Number>()->Value();
  if (std::isnan(number)) return otherwise;
  return static_cast<std::int64_t>(std::clamp(number, -9.2e18, 9.2e18));
}

std::span<std::byte> memory(Local<Value> value) {
  if (!value->IsArrayBufferView()) return {};
  const Local<v8::ArrayBufferView> view = value.As<v8::ArrayBufferView>();
  // Buffer() moves a small array out of the heap, so that its address stays.
  auto* start = static_cast<std::byte*>(view->Buffer()->Data());
  return start == nullptr ? std::span<std::byte>()
                          : std::span(start + view->ByteOffset(), view->ByteLength());
}

std::span<std::byte> part(const Arguments& args, int view, int offset, int length) {
  const std::span<std::byte> all = memory(args[view]);
  const std::int64_t size = static_cast<std::int64_t>(all.size());
  const std::int64_t from = std::clamp<std::int64_t>(integer(args, offset, 0), 0, size);
  const std::int64_t count = std::clamp<std::int64_t>(integer(args, length, size - from), 0, size - from);
  return all.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(count));
}

v8::MaybeLocal<v8::ArrayBuffer> buffer_of(v8::Isolate* isolate, std::string_view bytes) {
  Local<v8::ArrayBuffer> buffer;
  if (!v8::ArrayBuffer::MaybeNew(isolate, bytes.size(), v8::BackingStoreInitializationMode::kUninitialized)
           .ToLocal(&buffer)) {
    isolate->ThrowException(v8::Exception::RangeError(key(isolate, "Array buffer allocation failed")));
    return {};
  }
  if (!bytes.empty()) std::memcpy(buffer->Data(), bytes.data(), bytes.size());
  return buffer;
}

Local<Value> encode(v8::Isolate* isolate, std::string_view bytes, As as) {
  if (as == As::bytes) {
    Local<v8::ArrayBuffer> buffer;
    if (!buffer_of(isolate, bytes).ToLocal(&buffer)) return v8::Undefined(isolate);
    return v8::Uint8Array::New(buffer, 0, bytes.size());
  }
  const bool plain =
      std::ranges::none_of(bytes, [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; });
  const int size =
      static_cast<int>(std::min<std::size_t>(bytes.size(), v8::String::kMaxLength + std::size_t{1}));
  Local<v8::String> text;
  const auto* start = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (plain ? v8::String::NewFromOneByte(isolate, start, v8::NewStringType::kNormal, size).ToLocal(&text)
            : v8::String::NewFromUtf8(isolate, bytes.data(), v8::NewStringType::kNormal, size).ToLocal(&text))
    return text;
  return v8::Integer::New(isolate, -EFBIG);  // longer than a string can be
}

kernel::Result<std::shared_ptr<kernel::Description>> description(Guest& guest, const Arguments& args,
                                                                 int at) {
  return guest.process().fds().get(static_cast<int>(integer(args, at, -1)));
}

Ended ended(const kernel::Exit& exit) {
  return {exit.code.value_or(-1), exit.signal.value_or(0)};
}

namespace {

std::span<const Native> all_natives() {
  static const std::vector<Native> all = [] {
    std::vector<Native> natives;
    for (const auto& part : {path_natives(), stat_natives(), io_natives(), stream_natives(),
                             process_natives(), spawn_sync_natives(), usage_natives()})
      natives.insert(natives.end(), part.begin(), part.end());
    return natives;
  }();
  return all;
}

}  // namespace
}  // namespace tare::engine::sys

namespace tare::engine {

extern const Binding sys_binding{"sys", sys::all_natives()};

}  // namespace tare::engine
