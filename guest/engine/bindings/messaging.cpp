#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "engine/bindings/support.hpp"

namespace tare::engine {
namespace {

/// What structured cloning asks the glue in guest/compat: `error(message)` makes a DataCloneError,
/// `write(object)` gives an object of the library that knows how to be cloned a number, `read(number)` is
/// what it became.
class Hooks {
 public:
  Hooks(v8::Isolate* isolate, v8::Local<v8::Value> object)
      : isolate_(isolate), object_(object.As<v8::Object>()) {}

  void throw_error(v8::Local<v8::String> message) const {
    v8::Local<v8::Value> error;
    v8::Local<v8::Value> arguments[] = {message};
    if (call("error", arguments).ToLocal(&error)) isolate_->ThrowException(error);
  }

  v8::MaybeLocal<v8::Value> call(std::string_view name, std::span<v8::Local<v8::Value>> arguments) const {
    const v8::Local<v8::Context> context = isolate_->GetCurrentContext();
    v8::Local<v8::Value> function;
    if (!object_->Get(context, key(isolate_, name)).ToLocal(&function) || !function->IsFunction()) return {};
    return function.As<v8::Function>()->Call(context, object_, static_cast<int>(arguments.size()),
                                             arguments.data());
  }

 private:
  v8::Isolate* isolate_;
  v8::Local<v8::Object> object_;
};

/// Objects of the library say by this whether they can be cloned or transferred.
v8::Local<v8::Private> transfer_mode(v8::Isolate* isolate) {
  return v8::Private::ForApi(isolate, key(isolate, "transfer_mode_private_symbol"));
}

class Writing final : public v8::ValueSerializer::Delegate {
 public:
  Writing(v8::Isolate* isolate, const Hooks& hooks, v8::Local<v8::Array> shared)
      : hooks_(hooks), shared_(shared), transfer_mode_(transfer_mode(isolate)) {}
  void set_serializer(v8::ValueSerializer* serializer) { serializer_ = serializer; }

  void ThrowDataCloneError(v8::Local<v8::String> message) override { hooks_.throw_error(message); }
  bool HasCustomHostObject(v8::Isolate*) override { return true; }
  v8::Maybe<bool> IsHostObject(v8::Isolate* isolate, v8::Local<v8::Object> object) override {
    return object->HasPrivate(isolate->GetCurrentContext(), transfer_mode_);
  }
  v8::Maybe<bool> WriteHostObject(v8::Isolate* isolate, v8::Local<v8::Object> object) override {
    v8::Local<v8::Value> number;
    v8::Local<v8::Value> arguments[] = {object};
    if (!hooks_.call("write", arguments).ToLocal(&number) || !number->IsUint32()) return v8::Nothing<bool>();
    serializer_->WriteUint32(number->Uint32Value(isolate->GetCurrentContext()).FromMaybe(0));
    return v8::Just(true);
  }
  v8::Maybe<std::uint32_t> GetSharedArrayBufferId(v8::Isolate* isolate,
                                                  v8::Local<v8::SharedArrayBuffer> buffer) override {
    const v8::Local<v8::Context> context = isolate->GetCurrentContext();
    const std::uint32_t number = shared_->Length();
    if (shared_->Set(context, number, buffer).IsNothing()) return v8::Nothing<std::uint32_t>();
    return v8::Just(number);
  }

 private:
  const Hooks& hooks_;
  v8::Local<v8::Array> shared_;
  v8::Local<v8::Private> transfer_mode_;
  v8::ValueSerializer* serializer_ = nullptr;
};

class Reading final : public v8::ValueDeserializer::Delegate {
 public:
  Reading(const Hooks& hooks, v8::Local<v8::Array> shared) : hooks_(hooks), shared_(shared) {}
  void set_deserializer(v8::ValueDeserializer* deserializer) { deserializer_ = deserializer; }

  v8::MaybeLocal<v8::Object> ReadHostObject(v8::Isolate* isolate) override {
    const v8::Isolate::AllowJavascriptExecutionScope scope(isolate);  // V8 forbids it while it reads
    std::uint32_t number = 0;
    if (!deserializer_->ReadUint32(&number)) return {};
    v8::Local<v8::Value> object;
    v8::Local<v8::Value> arguments[] = {v8::Integer::NewFromUnsigned(isolate, number)};
    if (!hooks_.call("read", arguments).ToLocal(&object) || !object->IsObject()) return {};
    return object.As<v8::Object>();
  }
  v8::MaybeLocal<v8::SharedArrayBuffer> GetSharedArrayBufferFromId(v8::Isolate* isolate,
                                                                   std::uint32_t id) override {
    v8::Local<v8::Value> buffer;
    if (!shared_->Get(isolate->GetCurrentContext(), id).ToLocal(&buffer) || !buffer->IsSharedArrayBuffer())
      return {};
    return v8::SharedArrayBuffer::New(isolate, buffer.As<v8::SharedArrayBuffer>()->GetBackingStore());
  }

 private:
  const Hooks& hooks_;
  v8::Local<v8::Array> shared_;
  v8::ValueDeserializer* deserializer_ = nullptr;
};

std::vector<v8::Local<v8::Value>> members(v8::Isolate* isolate, v8::Local<v8::Value> array) {
  std::vector<v8::Local<v8::Value>> found;
  if (!array->IsArray()) return found;
  const v8::Local<v8::Array> list = array.As<v8::Array>();
  for (std::uint32_t i = 0; i < list->Length(); ++i)
    found.push_back(
        list->Get(isolate->GetCurrentContext(), i).FromMaybe(v8::Undefined(isolate).As<v8::Value>()));
  return found;
}

/// The same memory as an ArrayBuffer of its own; the one it was is detached. Nothing when it can't be.
v8::MaybeLocal<v8::Value> move_buffer(v8::Isolate* isolate, v8::Local<v8::ArrayBuffer> buffer) {
  if (!buffer->IsDetachable()) return {};
  std::shared_ptr<v8::BackingStore> store = buffer->GetBackingStore();
  if (buffer->Detach(v8::Local<v8::Value>()).IsNothing()) return {};
  return v8::ArrayBuffer::New(isolate, std::move(store));
}

/// serialize(value, hooks, ArrayBuffers to transfer): {bytes, moved, shared}, all that deserialize needs
/// besides the hooks.
void serialize(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  const Hooks hooks(isolate, args[1]);
  const v8::Local<v8::Array> shared = v8::Array::New(isolate);
  Writing writing(isolate, hooks, shared);
  v8::ValueSerializer serializer(isolate, &writing);
  writing.set_serializer(&serializer);
  std::vector<v8::Local<v8::Value>> buffers = members(isolate, args[2]);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    serializer.TransferArrayBuffer(static_cast<std::uint32_t>(i), buffers[i].As<v8::ArrayBuffer>());
  serializer.WriteHeader();
  if (serializer.WriteValue(context, args[0]).IsNothing()) return;
  for (v8::Local<v8::Value>& buffer : buffers) {
    if (!move_buffer(isolate, buffer.As<v8::ArrayBuffer>()).ToLocal(&buffer))
      return hooks.throw_error(key(isolate, "An ArrayBuffer is detached and could not be cloned."));
  }
  const auto [data, size] = serializer.Release();
  v8::Local<v8::Uint8Array> bytes;
  const bool made = make_bytes(isolate, {data, size}).ToLocal(&bytes);
  std::free(data);  // NOLINT: allocated by V8 with realloc
  if (!made) return;
  const v8::Local<v8::Object> message = v8::Object::New(isolate);
  set(isolate, message, "bytes", bytes);
  set(isolate, message, "moved", v8::Array::New(isolate, buffers.data(), buffers.size()));
  set(isolate, message, "shared", shared);
  args.GetReturnValue().Set(message);
}

/// deserialize(bytes, hooks, moved, shared): the value.
void deserialize(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  if (!args[0]->IsUint8Array() || !args[3]->IsArray()) return;
  const std::span<const std::uint8_t> bytes = memory_of(args[0]);  // lives as long as args does
  const Hooks hooks(isolate, args[1]);
  Reading reading(hooks, args[3].As<v8::Array>());
  v8::ValueDeserializer deserializer(isolate, bytes.data(), bytes.size(), &reading);
  reading.set_deserializer(&deserializer);
  const std::vector<v8::Local<v8::Value>> moved = members(isolate, args[2]);
  for (std::size_t i = 0; i < moved.size(); ++i)
    deserializer.TransferArrayBuffer(static_cast<std::uint32_t>(i), moved[i].As<v8::ArrayBuffer>());
  if (deserializer.ReadHeader(context).IsNothing()) return;
  v8::Local<v8::Value> value;
  if (deserializer.ReadValue(context).ToLocal(&value)) args.GetReturnValue().Set(value);
}

void is_detachable(const Arguments& args) {
  args.GetReturnValue().Set(args[0]->IsArrayBuffer() && args[0].As<v8::ArrayBuffer>()->IsDetachable() &&
                            !args[0].As<v8::ArrayBuffer>()->WasDetached());
}

constexpr Native messaging_natives[] = {
    {"serialize", serialize},
    {"deserialize", deserialize},
    {"isDetachable", is_detachable},
};

}  // namespace

extern const Binding messaging_binding;
const Binding messaging_binding{"messaging", messaging_natives};

}  // namespace tare::engine
