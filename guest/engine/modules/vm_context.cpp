// Contexts of the module vm: their globals live in an object of the program's, behind interceptors.
#include "engine/modules/vm_context.hpp"

#include <string>

#include "engine/bindings/support.hpp"
#include "engine/modules/arrow.hpp"
#include "engine/modules/state.hpp"

namespace tare::engine {
namespace {

using v8::Intercepted;
using v8::Local;
using v8::Name;
using v8::PropertyCallbackInfo;
using v8::Value;

constexpr int sandbox_index = 3;  ///< in a context's embedder data: the contextified object

/// The context whose global was touched, and the object behind it.
struct Sandbox {
  Local<v8::Context> context;
  Local<v8::Object> object;  ///< empty in the model, and for vm.constants.DONT_CONTEXTIFY
  Local<v8::Object> global() const { return context->Global(); }
};

template <class T>
Sandbox sandbox_of(const PropertyCallbackInfo<T>& info) {
  Sandbox found;
  if (!info.HolderV2()->GetCreationContext(info.GetIsolate()).ToLocal(&found.context)) return {};
  if (found.context->GetNumberOfEmbedderDataFields() <= sandbox_index) return {};
  const Local<Value> object = found.context->GetEmbedderData(sandbox_index);
  if (object->IsObject()) found.object = object.As<v8::Object>();
  return found;
}

Intercepted get(Local<Name> name, const PropertyCallbackInfo<Value>& info) {
  const Sandbox sandbox = sandbox_of(info);
  if (sandbox.object.IsEmpty()) return Intercepted::kNo;
  v8::TryCatch caught(info.GetIsolate());
  Local<Value> value;
  bool found = sandbox.object->GetRealNamedProperty(sandbox.context, name).ToLocal(&value);
  if (!found && !caught.HasCaught())
    found = sandbox.global()->GetRealNamedProperty(sandbox.context, name).ToLocal(&value);
  if (caught.HasCaught()) {
    caught.ReThrow();
    return Intercepted::kYes;
  }
  if (!found) return Intercepted::kNo;
  info.GetReturnValue().Set(value == sandbox.object ? sandbox.global().As<Value>() : value);
  return Intercepted::kYes;
}

Intercepted query(Local<Name> name, const PropertyCallbackInfo<v8::Integer>& info) {
  const Sandbox sandbox = sandbox_of(info);
  if (sandbox.object.IsEmpty()) return Intercepted::kNo;
  v8::PropertyAttribute attributes = v8::None;
  if (!sandbox.object->GetRealNamedPropertyAttributes(sandbox.context, name).To(&attributes) &&
      !sandbox.global()->GetRealNamedPropertyAttributes(sandbox.context, name).To(&attributes))
    return Intercepted::kNo;
  info.GetReturnValue().Set(static_cast<int>(attributes));
  return Intercepted::kYes;
}

bool is_accessor(const Sandbox& sandbox, Local<Name> name) {
  Local<Value> descriptor;
  if (!sandbox.object->GetOwnPropertyDescriptor(sandbox.context, name).ToLocal(&descriptor) ||
      !descriptor->IsObject())
    return false;
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  const auto has = [&](std::string_view member) {
    return descriptor.As<v8::Object>()
        ->HasOwnProperty(sandbox.context, key(isolate, member))
        .FromMaybe(false);
  };
  return has("get") || has("set");
}

Intercepted set_value(Local<Name> name, Local<Value> value, const PropertyCallbackInfo<void>& info) {
  const Sandbox sandbox = sandbox_of(info);
  if (sandbox.object.IsEmpty()) return Intercepted::kNo;
  v8::PropertyAttribute on_global = v8::None;
  v8::PropertyAttribute on_object = v8::None;
  const bool in_global =
      sandbox.global()->GetRealNamedPropertyAttributes(sandbox.context, name).To(&on_global);
  const bool in_object = sandbox.object->GetRealNamedPropertyAttributes(sandbox.context, name).To(&on_object);
  if (((on_global | on_object) & v8::ReadOnly) != 0) return Intercepted::kNo;
  if (!in_global && !in_object) {
    // `x = 1` in strict code: V8 says that there is no x. A function declaration looks the same, but isn't.
    const bool contextual = sandbox.global() != info.This();
    if (info.ShouldThrowOnError() && contextual && !value->IsFunction()) return Intercepted::kNo;
    if (name->IsSymbol()) return Intercepted::kNo;
  }
  const bool done = sandbox.object->Set(sandbox.context, name, value).FromMaybe(false);
  // V8 sets it on the global, too, where it would go past a setter of the object's.
  return !done || (in_object && is_accessor(sandbox, name)) ? Intercepted::kYes : Intercepted::kNo;
}

Intercepted describe(Local<Name> name, const PropertyCallbackInfo<Value>& info) {
  const Sandbox sandbox = sandbox_of(info);
  if (sandbox.object.IsEmpty() || !sandbox.object->HasOwnProperty(sandbox.context, name).FromMaybe(false))
    return Intercepted::kNo;
  Local<Value> descriptor;
  if (!sandbox.object->GetOwnPropertyDescriptor(sandbox.context, name).ToLocal(&descriptor))
    return Intercepted::kNo;
  info.GetReturnValue().Set(descriptor);
  return Intercepted::kYes;
}

void define_on(const Sandbox& sandbox, Local<Name> name, const v8::PropertyDescriptor& from,
               v8::PropertyDescriptor& to) {
  if (from.has_enumerable()) to.set_enumerable(from.enumerable());
  if (from.has_configurable()) to.set_configurable(from.configurable());
  const v8::Maybe<bool> done = sandbox.object->DefineProperty(sandbox.context, name, to);
  if (done.IsNothing()) return;  // V8 has thrown
}

Intercepted define(Local<Name> name, const v8::PropertyDescriptor& wanted,
                   const PropertyCallbackInfo<void>& info) {
  const Sandbox sandbox = sandbox_of(info);
  if (sandbox.object.IsEmpty()) return Intercepted::kNo;
  v8::PropertyAttribute attributes = v8::None;
  const bool in_global =
      sandbox.global()->GetRealNamedPropertyAttributes(sandbox.context, name).To(&attributes);
  if (in_global && (attributes & v8::ReadOnly) != 0 && (attributes & v8::DontDelete) != 0)
    return Intercepted::kNo;
  const Local<Value> undefined = v8::Undefined(info.GetIsolate());
  if (wanted.has_get() || wanted.has_set()) {
    v8::PropertyDescriptor made(wanted.has_get() ? wanted.get() : undefined,
                                wanted.has_set() ? wanted.set() : undefined);
    define_on(sandbox, name, wanted, made);
  } else {
    const Local<Value> value = wanted.has_value() ? wanted.value() : undefined;
    if (wanted.has_writable()) {
      v8::PropertyDescriptor made(value, wanted.writable());
      define_on(sandbox, name, wanted, made);
    } else {
      v8::PropertyDescriptor made(value);
      define_on(sandbox, name, wanted, made);
    }
  }
  return Intercepted::kNo;
}

Intercepted remove(Local<Name> name, const PropertyCallbackInfo<v8::Boolean>& info) {
  const Sandbox sandbox = sandbox_of(info);
  if (sandbox.object.IsEmpty() || sandbox.object->Delete(sandbox.context, name).FromMaybe(false))
    return Intercepted::kNo;
  info.GetReturnValue().Set(false);
  return Intercepted::kYes;
}

template <v8::IndexFilter indices>
void enumerate(const PropertyCallbackInfo<v8::Array>& info) {
  const Sandbox sandbox = sandbox_of(info);
  Local<v8::Array> names;
  if (sandbox.object.IsEmpty() ||
      !sandbox.object
           ->GetPropertyNames(sandbox.context, v8::KeyCollectionMode::kOwnOnly, v8::ALL_PROPERTIES, indices)
           .ToLocal(&names))
    return;
  info.GetReturnValue().Set(names);
}

void enumerate_indices(const PropertyCallbackInfo<v8::Array>& info) {
  const Sandbox sandbox = sandbox_of(info);
  Local<v8::Array> names;
  if (sandbox.object.IsEmpty() || !sandbox.object->GetOwnPropertyNames(sandbox.context).ToLocal(&names))
    return;
  const Local<v8::Array> found = v8::Array::New(info.GetIsolate());
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < names->Length(); ++i) {
    Local<Value> name;
    if (names->Get(sandbox.context, i).ToLocal(&name) && name->IsUint32())
      found->CreateDataProperty(sandbox.context, count++, name).Check();
  }
  info.GetReturnValue().Set(found);
}

Local<Name> index_name(v8::Isolate* isolate, std::uint32_t index) {
  return to_v8(isolate, std::to_string(index));
}

Intercepted get_index(std::uint32_t index, const PropertyCallbackInfo<Value>& info) {
  return get(index_name(info.GetIsolate(), index), info);
}

Intercepted query_index(std::uint32_t index, const PropertyCallbackInfo<v8::Integer>& info) {
  return query(index_name(info.GetIsolate(), index), info);
}

Intercepted set_index(std::uint32_t index, Local<Value> value, const PropertyCallbackInfo<void>& info) {
  return set_value(index_name(info.GetIsolate(), index), value, info);
}

Intercepted describe_index(std::uint32_t index, const PropertyCallbackInfo<Value>& info) {
  return describe(index_name(info.GetIsolate(), index), info);
}

Intercepted define_index(std::uint32_t index, const v8::PropertyDescriptor& wanted,
                         const PropertyCallbackInfo<void>& info) {
  return define(index_name(info.GetIsolate(), index), wanted, info);
}

Intercepted remove_index(std::uint32_t index, const PropertyCallbackInfo<v8::Boolean>& info) {
  return remove(index_name(info.GetIsolate(), index), info);
}

Local<v8::Private> context_symbol(v8::Isolate* isolate) {
  return library_symbol(isolate, "contextify_context_private_symbol");
}

}  // namespace

std::span<const std::intptr_t> vm_context_references() {
  static const std::intptr_t all[] = {
      reinterpret_cast<std::intptr_t>(get),
      reinterpret_cast<std::intptr_t>(query),
      reinterpret_cast<std::intptr_t>(set_value),
      reinterpret_cast<std::intptr_t>(describe),
      reinterpret_cast<std::intptr_t>(define),
      reinterpret_cast<std::intptr_t>(remove),
      reinterpret_cast<std::intptr_t>(enumerate<v8::IndexFilter::kSkipIndices>),
      reinterpret_cast<std::intptr_t>(enumerate_indices),
      reinterpret_cast<std::intptr_t>(get_index),
      reinterpret_cast<std::intptr_t>(query_index),
      reinterpret_cast<std::intptr_t>(set_index),
      reinterpret_cast<std::intptr_t>(describe_index),
      reinterpret_cast<std::intptr_t>(define_index),
      reinterpret_cast<std::intptr_t>(remove_index),
  };
  return all;
}

Local<v8::Context> make_vm_context_model(v8::Isolate* isolate) {
  const Local<v8::ObjectTemplate> global = v8::ObjectTemplate::New(isolate);
  global->SetHandler(v8::NamedPropertyHandlerConfiguration(
      get, set_value, query, remove, enumerate<v8::IndexFilter::kSkipIndices>, define, describe, {},
      v8::PropertyHandlerFlags::kHasNoSideEffect));
  global->SetHandler(v8::IndexedPropertyHandlerConfiguration(get_index, set_index, query_index, remove_index,
                                                             enumerate_indices, define_index, describe_index,
                                                             {}, v8::PropertyHandlerFlags::kHasNoSideEffect));
  return v8::Context::New(isolate, nullptr, global);
}

Local<v8::Context> context_of(Local<v8::Context> current, Local<v8::Object> contextified) {
  Local<Value> holder;
  if (!contextified->GetPrivate(current, context_symbol(v8::Isolate::GetCurrent())).ToLocal(&holder) ||
      !holder->IsObject() || holder.As<v8::Object>()->InternalFieldCount() != 1)
    return current;
  return holder.As<v8::Object>()->GetInternalField(0).As<v8::Context>();
}

void make_context(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> current = isolate->GetCurrentContext();
  if (args[5]->IsTrue())
    return throw_error(isolate, ErrorKind::error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
                       "vm.createContext: microtaskMode has no counterpart in a guest");
  Local<v8::Context> context;
  if (!v8::Context::FromSnapshot(isolate, vm_context_index).ToLocal(&context))
    return throw_error(isolate, ErrorKind::error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
                       "vm.createContext has no counterpart in this guest");
  // Programs hand objects from one context to the other.
  context->SetSecurityToken(current->GetSecurityToken());
  context->AllowCodeGenerationFromStrings(args[3]->IsTrue());
  context->SetErrorMessageForCodeGenerationFromStrings(
      to_v8(isolate, "Code generation from strings disallowed for this context"));
  share_module_state(current, context);
  const bool contextified = args[0]->IsObject();
  const Local<v8::Object> object = contextified ? args[0].As<v8::Object>() : context->Global();
  context->SetEmbedderData(sandbox_index,
                           contextified ? object.As<Value>() : v8::Undefined(isolate).As<Value>());
  const Local<v8::ObjectTemplate> holders = v8::ObjectTemplate::New(isolate);
  holders->SetInternalFieldCount(1);
  Local<v8::Object> holder;
  if (!holders->NewInstance(current).ToLocal(&holder)) return;
  holder->SetInternalField(0, context);
  object->SetPrivate(current, context_symbol(isolate), holder).Check();
  object->SetPrivate(current, library_symbol(isolate, "host_defined_option_symbol"), args[6]).Check();
  // The global keeps the holder, hence the context, as long as anything of it is in use.
  if (contextified) context->Global()->SetPrivate(current, context_symbol(isolate), holder).Check();
  args.GetReturnValue().Set(object);
}

}  // namespace tare::engine
