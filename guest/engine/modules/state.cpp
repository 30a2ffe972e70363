#include "engine/modules/state.hpp"

namespace tare::engine {
namespace {

// 0 is V8's own. Node looks for itself from 32 on, and only in contexts that have as many.
constexpr int state_index = 2;

v8::Local<v8::Array> state_of(v8::Local<v8::Context> context) {
  return context->GetEmbedderData(state_index).As<v8::Array>();
}

}  // namespace

void ensure_module_state(v8::Local<v8::Context> context) {
  if (context->GetNumberOfEmbedderDataFields() > state_index &&
      context->GetEmbedderData(state_index)->IsArray())
    return;
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  const auto count = static_cast<std::uint32_t>(ModuleSlot::count);
  const v8::Local<v8::Array> state = v8::Array::New(isolate, static_cast<int>(count));
  // No holes: reading one would ask Array.prototype, which belongs to the guest.
  for (std::uint32_t i = 0; i < count; ++i) state->Set(context, i, v8::Undefined(isolate)).Check();
  context->SetEmbedderData(state_index, state);
  set_module_state(context, ModuleSlot::wraps, v8::Map::New(isolate));
  set_module_state(context, ModuleSlot::packages, v8::Map::New(isolate));
}

void share_module_state(v8::Local<v8::Context> from, v8::Local<v8::Context> to) {
  to->SetEmbedderData(state_index, from->GetEmbedderData(state_index));
}

v8::Local<v8::Value> module_state(v8::Local<v8::Context> context, ModuleSlot slot) {
  return state_of(context)->Get(context, static_cast<std::uint32_t>(slot)).ToLocalChecked();
}

void set_module_state(v8::Local<v8::Context> context, ModuleSlot slot, v8::Local<v8::Value> value) {
  state_of(context)->Set(context, static_cast<std::uint32_t>(slot), value).Check();
}

}  // namespace tare::engine
