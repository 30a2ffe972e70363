#include "engine/isolate/native_objects.hpp"

#include <utility>

namespace tare::engine {
namespace {

// Two fields, which no other object of ours has: a mark, and the number of the entry.
constexpr int mark_field = 0;
constexpr int id_field = 1;
constexpr int native_field_count = 2;
alignas(8) constexpr std::uint64_t mark = 0;

void* mark_address() {
  return const_cast<std::uint64_t*>(&mark);
}

}  // namespace

NativeObjects::~NativeObjects() = default;

v8::MaybeLocal<v8::Object> NativeObjects::hold(std::shared_ptr<NativeObject> object, const void* type) {
  if (template_.IsEmpty()) {
    const v8::Local<v8::ObjectTemplate> made = v8::ObjectTemplate::New(isolate_);
    made->SetInternalFieldCount(native_field_count);
    template_.Reset(isolate_, made);
  }
  v8::Local<v8::Object> wrapper;
  if (!template_.Get(isolate_)->NewInstance(isolate_->GetCurrentContext()).ToLocal(&wrapper)) return {};
  const std::uint64_t id = next_id_++;
  auto entry = std::make_unique<Entry>(Entry{this, id, type, std::move(object), {isolate_, wrapper}});
  wrapper->SetAlignedPointerInInternalField(mark_field, mark_address());
  wrapper->SetInternalField(id_field, v8::Number::New(isolate_, static_cast<double>(id)));
  entry->handle.SetWeak(entry.get(), forget, v8::WeakCallbackType::kParameter);
  entries_.emplace(id, std::move(entry));
  return wrapper;
}

void NativeObjects::forget(const v8::WeakCallbackInfo<Entry>& info) {
  Entry* entry = info.GetParameter();
  entry->handle.Reset();
  entry->all->entries_.erase(entry->id);
}

std::shared_ptr<NativeObject> NativeObjects::find(v8::Local<v8::Value> value, const void* type) const {
  if (!value->IsObject()) return nullptr;
  const v8::Local<v8::Object> object = value.As<v8::Object>();
  if (object->InternalFieldCount() != native_field_count ||
      object->GetAlignedPointerFromInternalField(mark_field) != mark_address())
    return nullptr;
  const auto id = object->GetInternalField(id_field).As<v8::Number>()->Value();
  const auto found = entries_.find(static_cast<std::uint64_t>(id));
  return found != entries_.end() && found->second->type == type ? found->second->object : nullptr;
}

}  // namespace tare::engine
