#include "engine/isolate/realm.hpp"

#include <array>
#include <cstdint>
#include <tuple>

#include "engine/isolate/guest.hpp"
#include "engine/isolate/native.hpp"
#include "engine/modules/module_wrap.hpp"
#include "engine/modules/state.hpp"

namespace tare::engine {

using v8::HandleScope;
using v8::Local;
using v8::MaybeLocal;
using v8::Value;

Realm::Realm(v8::Isolate* isolate) : isolate_(isolate) {
  const HandleScope scope(isolate);
  const Local<v8::Context> context = v8::Context::New(isolate);
  context_.Reset(isolate, context);
  const v8::Context::Scope inside(context);
  const Local<v8::Object> callbacks = context->GetDataFromSnapshotOnce<v8::Object>(0).ToLocalChecked();
  callbacks_.Reset(isolate, callbacks);
  process_.Reset(isolate, callback("process"));
  tick_.Reset(isolate, callback("tick").As<v8::Function>());
  tick_info_ = shared<std::uint8_t>("tickInfo");
}

Local<Value> Realm::callback(std::string_view name) const {
  return callbacks_.Get(isolate_)->Get(context(), key(isolate_, name)).ToLocalChecked();
}

void* Realm::shared_memory(std::string_view name) const {
  const auto array = callback(name).As<v8::TypedArray>();
  return static_cast<char*>(array->Buffer()->Data()) + array->ByteOffset();
}

MaybeLocal<Value> Realm::invoke(Local<v8::Function> function, std::span<Local<Value>> arguments) {
  Guest* guest = guest_of(isolate_);
  if (guest != nullptr && guest->ending()) return {};
  v8::TryCatch caught(isolate_);
  Local<Value> result;
  if (function->Call(context(), process_.Get(isolate_), static_cast<int>(arguments.size()), arguments.data())
          .ToLocal(&result))
    return result;
  if (caught.HasCaught() && !caught.HasTerminated() && caught.CanContinue())
    trigger_uncaught(isolate_, caught.Exception(), caught.Message(), Thrower::program);
  return {};
}

MaybeLocal<Value> Realm::call(Local<v8::Function> function, std::span<Local<Value>> arguments) {
  v8::EscapableHandleScope scope(isolate_);
  const MaybeLocal<Value> result = invoke(function, arguments);
  tick();
  return scope.EscapeMaybe(result);
}

MaybeLocal<Value> Realm::call(std::string_view name, std::span<Local<Value>> arguments) {
  v8::EscapableHandleScope scope(isolate_);
  return scope.EscapeMaybe(call(callback(name).As<v8::Function>(), arguments));
}

MaybeLocal<Value> Realm::call_bare(std::string_view name, std::span<Local<Value>> arguments) {
  v8::EscapableHandleScope scope(isolate_);
  return scope.EscapeMaybe(invoke(callback(name).As<v8::Function>(), arguments));
}

void Realm::tick() {
  constexpr int tick_scheduled = 0;
  constexpr int rejection_to_warn = 1;
  if (tick_info_[tick_scheduled] == 0) isolate_->PerformMicrotaskCheckpoint();
  if (tick_info_[tick_scheduled] == 0 && tick_info_[rejection_to_warn] == 0) return;
  const HandleScope scope(isolate_);
  // A tick that throws leaves the others queued; a handler of the exception schedules an immediate for them.
  (void)invoke(tick_.Get(isolate_), {});
}

namespace {

/// Until V8 has collected new objects: the room for them is empty then, which most programs never fill.
void empty_new_space(v8::Isolate* isolate) {
  constexpr int entries = 2048;
  constexpr int most = 4096;  // 64 MB in all, more than that room ever has
  bool collected = false;
  const auto note = [](v8::Isolate*, v8::GCType, v8::GCCallbackFlags, void* done) {
    *static_cast<bool*>(done) = true;
  };
  isolate->AddGCEpilogueCallback(note, &collected);
  for (int i = 0; i < most && !collected; ++i) {
    const HandleScope scope(isolate);
    v8::Array::New(isolate, entries);
  }
  isolate->RemoveGCEpilogueCallback(note, &collected);
}

}  // namespace

void Realm::rehearse() {
  const HandleScope scope(isolate_);
  const v8::Context::Scope inside(context());
  const Local<Value> function = callback("rehearse");
  if (!function->IsFunction()) return;
  const v8::TryCatch ignored(isolate_);
  std::ignore = function.As<v8::Function>()->Call(context(), process_.Get(isolate_), 0, nullptr);
  isolate_->PerformMicrotaskCheckpoint();
  set_module_state(context(), ModuleSlot::wraps, v8::Map::New(isolate_));
  empty_new_space(isolate_);
}

namespace {

Realm* realm_of(v8::Isolate* isolate) {
  Guest* guest = guest_of(isolate);
  return guest == nullptr ? nullptr : &guest->realm();
}

MaybeLocal<Value> prepare_stack_trace(Local<v8::Context> context, Local<Value> error,
                                      Local<v8::Array> sites) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  const Realm* realm = realm_of(isolate);
  const Local<Value> function = realm == nullptr ? Local<Value>() : realm->callback("prepareStackTrace");
  if (function.IsEmpty() || !function->IsFunction()) {
    return error->IsObject() ? error->ToString(context).FromMaybe(Local<v8::String>()) : Local<v8::String>();
  }
  std::array<Local<Value>, 3> arguments{context->Global(), error, sites};
  return function.As<v8::Function>()->Call(context, v8::Undefined(isolate),
                                           static_cast<int>(arguments.size()), arguments.data());
}

void on_rejection(v8::PromiseRejectMessage message) {
  const Local<v8::Promise> promise = message.GetPromise();
  v8::Isolate* isolate = promise->GetIsolate();
  const Realm* realm = realm_of(isolate);
  if (realm == nullptr || isolate->IsExecutionTerminating()) return;
  const HandleScope scope(isolate);
  const Local<Value> function = realm->callback("promiseReject");
  if (!function->IsFunction()) return;
  Local<Value> value = message.GetValue();
  if (value.IsEmpty()) value = v8::Undefined(isolate);
  std::array<Local<Value>, 3> arguments{v8::Integer::New(isolate, message.GetEvent()), promise, value};
  const v8::TryCatch ignored(isolate);
  std::ignore = function.As<v8::Function>()->Call(realm->context(), v8::Undefined(isolate),
                                                  static_cast<int>(arguments.size()), arguments.data());
}

/// What a microtask throws comes here, as there is no JavaScript around it.
void on_message(Local<v8::Message> message, Local<Value> error) {
  v8::Isolate* isolate = message->GetIsolate();
  if (guest_of(isolate) == nullptr) return;
  trigger_uncaught(isolate, error, message, Thrower::program);
}

}  // namespace

void set_isolate_callbacks(v8::Isolate* isolate) {
  isolate->SetPrepareStackTraceCallback(prepare_stack_trace);
  isolate->SetPromiseRejectCallback(on_rejection);
  set_module_callbacks(isolate);
  isolate->AddMessageListener(on_message);
  isolate->SetCaptureStackTraceForUncaughtExceptions(true, 10);
  // WebAssembly's memory is beyond every budget of ours.
  isolate->SetAllowWasmCodeGenerationCallback([](Local<v8::Context>, Local<v8::String>) { return false; });
}

}  // namespace tare::engine
