#include <cstdlib>
#include <vector>

#include "engine/bindings/support.hpp"

namespace tare::engine {
namespace {

/// Calls a method of the Serializer or Deserializer object; nothing when it threw or isn't there.
v8::MaybeLocal<v8::Value> call_glue(v8::Isolate* isolate, v8::Local<v8::Object> self, std::string_view name,
                                    std::span<v8::Local<v8::Value>> arguments) {
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  v8::Local<v8::Value> method;
  if (!self->Get(context, key(isolate, name)).ToLocal(&method) || !method->IsFunction()) return {};
  return method.As<v8::Function>()->Call(context, self, static_cast<int>(arguments.size()), arguments.data());
}

class SerializerDelegate final : public v8::ValueSerializer::Delegate {
 public:
  SerializerDelegate(v8::Isolate* isolate, v8::Local<v8::Object> self) : isolate_(isolate), self_(self) {}
  void set_serializer(v8::ValueSerializer* serializer) { serializer_ = serializer; }

  void ThrowDataCloneError(v8::Local<v8::String> message) override {
    v8::Local<v8::Value> error;
    v8::Local<v8::Value> arguments[] = {message};
    if (call_glue(isolate_, self_, "makeError", arguments).ToLocal(&error)) isolate_->ThrowException(error);
  }
  /// The glue collects what the program writes for the object, and gives it as bytes.
  v8::Maybe<bool> WriteHostObject(v8::Isolate* isolate, v8::Local<v8::Object> object) override {
    v8::Local<v8::Value> written;
    v8::Local<v8::Value> arguments[] = {object};
    if (!call_glue(isolate, self_, "writeHost", arguments).ToLocal(&written)) return v8::Nothing<bool>();
    const Bytes bytes(written);
    serializer_->WriteRawBytes(bytes.data(), bytes.size());
    return v8::Just(true);
  }
  v8::Maybe<std::uint32_t> GetSharedArrayBufferId(v8::Isolate* isolate,
                                                  v8::Local<v8::SharedArrayBuffer> buffer) override {
    v8::Local<v8::Value> id;
    v8::Local<v8::Value> arguments[] = {buffer};
    if (!call_glue(isolate, self_, "sharedId", arguments).ToLocal(&id)) return v8::Nothing<std::uint32_t>();
    return id->Uint32Value(isolate->GetCurrentContext());
  }

 private:
  v8::Isolate* isolate_;
  v8::Local<v8::Object> self_;
  v8::ValueSerializer* serializer_ = nullptr;
};

class DeserializerDelegate final : public v8::ValueDeserializer::Delegate {
 public:
  DeserializerDelegate(v8::Local<v8::Object> self, const std::uint8_t* start) : self_(self), start_(start) {}
  void set_deserializer(v8::ValueDeserializer* deserializer) { deserializer_ = deserializer; }

  std::size_t place() const {
    const void* here = nullptr;
    if (!deserializer_->ReadRawBytes(0, &here)) return 0;
    return static_cast<std::size_t>(static_cast<const std::uint8_t*>(here) - start_);
  }

  /// readHost(place): [object, place behind it].
  v8::MaybeLocal<v8::Object> ReadHostObject(v8::Isolate* isolate) override {
    const v8::Isolate::AllowJavascriptExecutionScope scope(isolate);  // V8 forbids it while it reads
    const v8::Local<v8::Context> context = isolate->GetCurrentContext();
    const std::size_t before = place();
    v8::Local<v8::Value> result;
    v8::Local<v8::Value> arguments[] = {v8::Number::New(isolate, static_cast<double>(before))};
    if (!call_glue(isolate, self_, "readHost", arguments).ToLocal(&result) || !result->IsArray()) return {};
    v8::Local<v8::Value> object;
    v8::Local<v8::Value> after;
    if (!result.As<v8::Object>()->Get(context, 0).ToLocal(&object) ||
        !result.As<v8::Object>()->Get(context, 1).ToLocal(&after))
      return {};
    const std::int64_t end = after->IntegerValue(context).FromMaybe(0);
    const void* skipped = nullptr;
    if (!object->IsObject() || end < static_cast<std::int64_t>(before) ||
        !deserializer_->ReadRawBytes(static_cast<std::size_t>(end) - before, &skipped))
      return {};
    return object.As<v8::Object>();
  }
  v8::MaybeLocal<v8::SharedArrayBuffer> GetSharedArrayBufferFromId(v8::Isolate* isolate,
                                                                   std::uint32_t id) override {
    const v8::Isolate::AllowJavascriptExecutionScope scope(isolate);
    v8::Local<v8::Value> buffer;
    v8::Local<v8::Value> arguments[] = {v8::Integer::NewFromUnsigned(isolate, id)};
    if (!call_glue(isolate, self_, "sharedOf", arguments).ToLocal(&buffer) || !buffer->IsSharedArrayBuffer())
      return {};
    return buffer.As<v8::SharedArrayBuffer>();
  }

 private:
  v8::Local<v8::Object> self_;
  const std::uint8_t* start_;
  v8::ValueDeserializer* deserializer_ = nullptr;
};

/// [id, ArrayBuffer, id, ArrayBuffer …]
template <class Serializer>
void announce(v8::Isolate* isolate, Serializer& serializer, v8::Local<v8::Value> list) {
  if (!list->IsArray()) return;
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  const v8::Local<v8::Array> pairs = list.As<v8::Array>();
  for (std::uint32_t i = 0; i + 1 < pairs->Length(); i += 2) {
    v8::Local<v8::Value> id;
    v8::Local<v8::Value> buffer;
    if (!pairs->Get(context, i).ToLocal(&id) || !pairs->Get(context, i + 1).ToLocal(&buffer)) return;
    const std::uint32_t number = id->Uint32Value(context).FromMaybe(0);
    if (buffer->IsArrayBuffer()) serializer.TransferArrayBuffer(number, buffer.As<v8::ArrayBuffer>());
  }
}

/// writeValue(bytes so far, value, hooks, whether views are host objects, transferred): all the bytes.
void write_value(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  SerializerDelegate writing(isolate, args[2].As<v8::Object>());
  v8::ValueSerializer serializer(isolate, &writing);
  writing.set_serializer(&serializer);
  serializer.SetTreatArrayBufferViewsAsHostObjects(args[3]->IsTrue());
  announce(isolate, serializer, args[4]);
  {
    const Bytes before(args[0]);
    serializer.WriteRawBytes(before.data(), before.size());
  }
  if (serializer.WriteValue(isolate->GetCurrentContext(), args[1]).IsNothing()) return;
  const auto [data, size] = serializer.Release();
  v8::Local<v8::Uint8Array> bytes;
  if (make_bytes(isolate, {data, size}).ToLocal(&bytes)) args.GetReturnValue().Set(bytes);
  std::free(data);  // NOLINT: allocated by V8 with realloc
}

/// readValue(bytes, place, version or 0 without a header, hooks, transferred): [value, place behind it].
void read_value(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  // A copy: code of the program runs meanwhile, and could detach what it gave.
  const Bytes given(args[0]);
  const std::string bytes(given.text());
  const std::int64_t place = args[1]->IntegerValue(context).FromMaybe(0);
  if (place < 0 || static_cast<std::size_t>(place) > bytes.size()) return;
  const auto* start = reinterpret_cast<const std::uint8_t*>(bytes.data());
  DeserializerDelegate reading(args[3].As<v8::Object>(), start);
  v8::ValueDeserializer deserializer(isolate, start, bytes.size(), &reading);
  reading.set_deserializer(&deserializer);
  // The version of the format is known to V8 only by the header.
  if (args[2]->Uint32Value(context).FromMaybe(0) > 0 && deserializer.ReadHeader(context).IsNothing()) return;
  const auto here = static_cast<std::int64_t>(reading.place());
  const void* skipped = nullptr;
  if (place < here || !deserializer.ReadRawBytes(static_cast<std::size_t>(place - here), &skipped)) return;
  announce(isolate, deserializer, args[4]);
  v8::Local<v8::Value> value;
  if (!deserializer.ReadValue(context).ToLocal(&value)) return;
  v8::Local<v8::Value> result[] = {value, v8::Number::New(isolate, static_cast<double>(reading.place()))};
  args.GetReturnValue().Set(v8::Array::New(isolate, result, 2));
}

constexpr Native serdes_natives[] = {{"writeValue", write_value}, {"readValue", read_value}};

}  // namespace

extern const Binding serdes_binding;
const Binding serdes_binding{"serdes", serdes_natives};

}  // namespace tare::engine
