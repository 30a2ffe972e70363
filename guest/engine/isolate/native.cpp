#include "engine/isolate/native.hpp"

#include "engine/bindings/kit.hpp"

namespace tare::engine {

v8::Local<v8::Object> make_members(v8::Isolate* isolate, v8::Local<v8::Context> context,
                                   const Binding& binding) {
  const v8::Local<v8::Object> members = v8::Object::New(isolate);
  for (const Native& native : binding.natives) {
    const v8::Local<v8::String> name = key(isolate, native.name);
    const v8::Local<v8::Function> function =
        v8::FunctionTemplate::New(isolate, native.call, {}, {}, 0, v8::ConstructorBehavior::kThrow)
            ->GetFunction(context)
            .ToLocalChecked();
    function->SetName(name);
    members->Set(context, name, function).Check();
  }
  if (binding.extend != nullptr) binding.extend(isolate, context, members);
  return members;
}

v8::Local<v8::Object> make_host(v8::Isolate* isolate, v8::Local<v8::Context> context) {
  const v8::Local<v8::Object> host = v8::Object::New(isolate);
  for (const Binding* binding : all_bindings())
    host->Set(context, key(isolate, binding->name), make_members(isolate, context, *binding)).Check();
  return host;
}

std::vector<std::intptr_t> external_references(const Pack& pack) {
  std::vector<std::intptr_t> references;
  const auto add = [&](const Binding& binding) {
    for (const Native& native : binding.natives)
      references.push_back(reinterpret_cast<std::intptr_t>(native.call));
    references.insert(references.end(), binding.references.begin(), binding.references.end());
  };
  add(kit_binding);
  for (const Binding* binding : all_bindings()) add(*binding);
  for (const PackText& text : pack.texts()) {
    const v8::String::ExternalStringResourceBase* base = &text;
    references.push_back(reinterpret_cast<std::intptr_t>(base));
  }
  references.push_back(0);
  return references;
}

}  // namespace tare::engine
