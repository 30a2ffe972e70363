#include "engine/isolate/native.hpp"

#include <algorithm>

#include "engine/bindings/kit.hpp"

namespace tare::engine {

v8::Local<v8::Object> make_members(v8::Isolate* isolate, v8::Local<v8::Context> context,
                                   const Binding& binding) {
  std::vector<v8::Local<v8::Name>> names;
  std::vector<v8::Local<v8::Value>> functions;
  for (const Native& native : binding.natives) {
    const v8::Local<v8::String> name = key(isolate, native.name);
    const v8::Local<v8::Function> function =
        v8::FunctionTemplate::New(isolate, native.call, {}, {}, 0, v8::ConstructorBehavior::kThrow)
            ->GetFunction(context)
            .ToLocalChecked();
    function->SetName(name);
    names.push_back(name);
    functions.push_back(function);
  }
  // With its members at once it is a dictionary: no chain of hidden classes for an object that is one of its
  // kind.
  const v8::Local<v8::Object> members =
      v8::Object::New(isolate, v8::Null(isolate), names.data(), functions.data(), names.size());
  if (binding.extend != nullptr) binding.extend(isolate, context, members);
  return members;
}

const Binding* find_binding(std::string_view name) {
  const auto all = all_bindings();
  const auto found =
      std::ranges::find(all, name, [](const Binding* binding) { return std::string_view(binding->name); });
  return found == all.end() ? nullptr : *found;
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
