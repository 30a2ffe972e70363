// internalBinding('module_wrap'): V8's modules as Node's loader knows them.
#include "engine/modules/module_wrap.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "engine/bindings/support.hpp"
#include "engine/modules/arrow.hpp"
#include "engine/modules/code_cache.hpp"
#include "engine/modules/source.hpp"
#include "engine/modules/state.hpp"
#include "engine/modules/vm_context.hpp"

namespace tare::engine {

using v8::Local;
using v8::ScriptCompiler;
using v8::Value;

Local<Value> wrap_field(Local<v8::Object> wrap, WrapField field) {
  return wrap->GetInternalField(static_cast<int>(field)).As<Value>();
}

Local<v8::Module> module_of(Local<v8::Object> wrap) {
  return wrap->GetInternalField(static_cast<int>(WrapField::module)).As<v8::Module>();
}

void remember_wrap(Local<v8::Context> context, Local<v8::Object> wrap) {
  const auto wraps = module_state(context, ModuleSlot::wraps).As<v8::Map>();
  const Local<Value> hash = v8::Integer::New(v8::Isolate::GetCurrent(), module_of(wrap)->GetIdentityHash());
  const Local<Value> before = wraps->Get(context, hash).ToLocalChecked();
  wrap->SetInternalField(static_cast<int>(WrapField::next), before);
  wraps->Set(context, hash, wrap).ToLocalChecked();
}

Local<v8::Object> wrap_of(Local<v8::Context> context, Local<v8::Module> module) {
  const auto wraps = module_state(context, ModuleSlot::wraps).As<v8::Map>();
  const Local<Value> hash = v8::Integer::New(v8::Isolate::GetCurrent(), module->GetIdentityHash());
  Local<Value> found = wraps->Get(context, hash).ToLocalChecked();
  while (found->IsObject()) {
    const auto wrap = found.As<v8::Object>();
    if (module_of(wrap) == module) return wrap;
    found = wrap_field(wrap, WrapField::next);
  }
  return {};
}

namespace {

/// The module of `new ModuleWrap(url, context, source, line, column, hostSymbol or cachedData)`.
v8::MaybeLocal<v8::Module> compile_module(const Arguments& args, Local<v8::Context> context,
                                          Local<v8::Symbol> symbol, CodeLookup& lookup) {
  v8::Isolate* isolate = args.GetIsolate();
  const auto number = [&](int i) { return args[i]->Int32Value(context).FromMaybe(0); };
  std::unique_ptr<ScriptCompiler::CachedData> cached = cached_data_of(args[5]);
  const bool given = cached != nullptr;
  const auto options = given ? ScriptCompiler::kConsumeCodeCache : lookup.options();
  if (!given) cached = lookup.data();
  ScriptCompiler::Source source(
      args[2].As<v8::String>(),
      make_origin(isolate, {.name = args[0], .line = number(3), .column = number(4), .host_symbol = symbol},
                  SourceType::module),
      cached.release());
  v8::TryCatch caught(isolate);
  Local<v8::Module> module;
  if (!ScriptCompiler::CompileModule(isolate, &source, options).ToLocal(&module)) {
    append_arrow(context, caught);
    caught.ReThrow();
    return {};
  }
  if (!given) lookup.compiled(source);
  if (!given || !source.GetCachedData()->rejected) return module;
  throw_error(isolate, ErrorKind::error, "ERR_VM_MODULE_CACHED_DATA_REJECTED",
              "cachedData buffer was rejected");
  caught.ReThrow();
  return {};
}

Local<v8::Module> synthetic_module(const Arguments& args, Local<v8::Context> context) {
  v8::Isolate* isolate = args.GetIsolate();
  const auto names = args[2].As<v8::Array>();
  std::vector<Local<v8::String>> exports;
  exports.reserve(names->Length());
  for (std::uint32_t i = 0; i < names->Length(); ++i)
    exports.push_back(names->Get(context, i).ToLocalChecked().As<v8::String>());
  return v8::Module::CreateSyntheticModule(isolate, args[0].As<v8::String>(),
                                           {exports.data(), exports.size()}, run_synthetic_steps);
}

void describe_source(Local<v8::Context> context, Local<v8::Object> self, Local<v8::Module> module,
                     Local<v8::Symbol> symbol) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  self->SetPrivate(context, library_symbol(isolate, "host_defined_option_symbol"), symbol).Check();
  set(isolate, self, "hasTopLevelAwait", v8::Boolean::New(isolate, module->HasTopLevelAwait()));
  const Local<v8::UnboundModuleScript> script = module->GetUnboundModuleScript();
  self->SetInternalField(static_cast<int>(WrapField::script), script);
  set(isolate, self, "sourceURL", script->GetSourceURL());
  set(isolate, self, "sourceMapURL", script->GetSourceMappingURL());
}

/// new ModuleWrap(url, context, source, lineOffset, columnOffset, hostSymbol or cachedData), or
/// new ModuleWrap(url, context, exportNames, evaluationSteps, the CommonJS module it stands for)
void construct(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> current = isolate->GetCurrentContext();
  if (!args.IsConstructCall() || !args[0]->IsString() || !(args[2]->IsString() || args[2]->IsArray())) {
    return throw_error(isolate, ErrorKind::type, "ERR_CONSTRUCT_CALL_REQUIRED",
                       "Class constructor ModuleWrap cannot be invoked without `new`");
  }
  const Local<v8::Context> context =
      args[1]->IsObject() ? context_of(current, args[1].As<v8::Object>()) : current;
  const bool synthetic = args[2]->IsArray();
  const Local<v8::Symbol> symbol =
      args[5]->IsSymbol() ? args[5].As<v8::Symbol>() : v8::Symbol::New(isolate, args[0].As<v8::String>());
  std::optional<CodeLookup> lookup;
  if (!synthetic) lookup.emplace(isolate, "module ", args[2].As<v8::String>());
  Local<v8::Module> module;
  {
    const v8::Context::Scope inside(context);
    if (synthetic) {
      module = synthetic_module(args, context);
    } else if (!compile_module(args, context, symbol, *lookup).ToLocal(&module)) {
      return;
    }
  }
  const Local<v8::Object> self = args.This();
  const Local<Value> undefined = v8::Undefined(isolate);
  for (int i = 0; i < static_cast<int>(WrapField::count); ++i) self->SetInternalField(i, undefined);
  self->SetInternalField(static_cast<int>(WrapField::module), module);
  self->SetInternalField(static_cast<int>(WrapField::context), args[1]);
  if (synthetic) {
    self->SetInternalField(static_cast<int>(WrapField::steps), args[3]);
  } else {
    describe_source(current, self, module, symbol);
    note_module(current, lookup->id_to_note(), self);
  }
  set(isolate, self, "synthetic", v8::Boolean::New(isolate, synthetic));
  set(isolate, self, "url", args[0]);
  if (synthetic && args[4]->IsObject())
    self->Set(current, module_state(current, ModuleSlot::imported_cjs).As<v8::Symbol>(), args[4]).Check();
  remember_wrap(current, self);
}

void not_instantiated(v8::Isolate* isolate) {
  throw_error(isolate, ErrorKind::error, "ERR_MODULE_NOT_INSTANTIATED", "Module is not instantiated");
}

void get_namespace(const Arguments& args) {
  const Local<v8::Module> module = module_of(args.This());
  if (module->GetStatus() < v8::Module::kInstantiated) return not_instantiated(args.GetIsolate());
  args.GetReturnValue().Set(module->GetModuleNamespace());
}

void get_status(const Arguments& args) {
  args.GetReturnValue().Set(static_cast<int>(module_of(args.This())->GetStatus()));
}

void get_error(const Arguments& args) {
  const Local<v8::Module> module = module_of(args.This());
  if (module->GetStatus() == v8::Module::kErrored) args.GetReturnValue().Set(module->GetException());
}

/// The property `hasAsyncGraph`, computed when it is read the first time after instantiate().
void has_async_graph(Local<v8::Name>, const v8::PropertyCallbackInfo<Value>& info) {
  const Local<v8::Module> module = module_of(info.HolderV2());
  if (module->GetStatus() < v8::Module::kInstantiated) return not_instantiated(info.GetIsolate());
  info.GetReturnValue().Set(v8::Boolean::New(info.GetIsolate(), module->IsGraphAsync()));
}

void set_export(const Arguments& args) {
  const Local<v8::Module> module = module_of(args.This());
  const v8::Maybe<bool> done =
      module->SetSyntheticModuleExport(args.GetIsolate(), args[0].As<v8::String>(), args[1]);
  if (done.IsNothing()) return;  // V8 has thrown
}

void set_source_object(const Arguments& args) {
  args.This()->SetInternalField(static_cast<int>(WrapField::source_object), args[0]);
}

void get_source_object(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<Value> object = wrap_field(args.This(), WrapField::source_object);
  if (object->IsObject()) return args.GetReturnValue().Set(object);
  Local<Value> url;
  if (!args.This()->Get(isolate->GetCurrentContext(), key(isolate, "url")).ToLocal(&url)) return;
  throw_syntax_error(
      isolate, "ERR_SOURCE_PHASE_NOT_DEFINED",
      fmt::format("Source phase import object is not defined for module '{}'", to_string(isolate, url)));
}

void create_cached_data(const Arguments& args) {
  const Local<v8::Module> module = module_of(args.This());
  const std::unique_ptr<ScriptCompiler::CachedData> made(
      module->IsSourceTextModule() ? ScriptCompiler::CreateCodeCache(module->GetUnboundModuleScript())
                                   : nullptr);
  Local<Value> buffer;
  if (to_buffer(args.GetIsolate()->GetCurrentContext(), made.get()).ToLocal(&buffer))
    args.GetReturnValue().Set(buffer);
}

void set_import_callback(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  set_module_state(isolate->GetCurrentContext(), ModuleSlot::import_callback, args[0]);
  set_module_callbacks(isolate);
}

void set_meta_callback(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  set_module_state(isolate->GetCurrentContext(), ModuleSlot::meta_callback, args[0]);
  set_module_callbacks(isolate);
}

const Native methods[] = {
    {"link", link_module},
    {"getModuleRequests", get_module_requests},
    {"instantiate", instantiate_module},
    {"evaluateSync", evaluate_module_sync},
    {"evaluate", evaluate_module},
    {"setExport", set_export},
    {"setModuleSourceObject", set_source_object},
    {"getModuleSourceObject", get_source_object},
    {"createCachedData", create_cached_data},
    {"getNamespace", get_namespace},
    {"getStatus", get_status},
    {"getError", get_error},
};

const Native module_wrap_natives[] = {
    {"setImportModuleDynamicallyCallback", set_import_callback},
    {"setInitializeImportMetaObjectCallback", set_meta_callback},
    {"createRequiredModuleFacade", create_required_module_facade},
    {"throwIfPromiseRejected", throw_if_promise_rejected},
    {"unsettledAwait", unsettled_await},
};

void extend_module_wrap(v8::Isolate* isolate, Local<v8::Context> context, Local<v8::Object> binding) {
  ensure_module_state(context);
  const Local<v8::FunctionTemplate> made = v8::FunctionTemplate::New(isolate, construct);
  made->SetClassName(key(isolate, "ModuleWrap"));
  made->InstanceTemplate()->SetInternalFieldCount(static_cast<int>(WrapField::count));
  made->InstanceTemplate()->SetLazyDataProperty(key(isolate, "hasAsyncGraph"), has_async_graph, {},
                                                v8::DontEnum);
  const Local<v8::Signature> signature = v8::Signature::New(isolate, made);
  for (const Native& method : methods) {
    const Local<v8::FunctionTemplate> function =
        v8::FunctionTemplate::New(isolate, method.call, {}, signature, 0, v8::ConstructorBehavior::kThrow);
    function->SetClassName(key(isolate, method.name));
    made->PrototypeTemplate()->Set(isolate, method.name, function);
  }
  const Local<v8::Function> wrap = made->GetFunction(context).ToLocalChecked();
  set(isolate, binding, "ModuleWrap", wrap);
  set_module_state(context, ModuleSlot::module_wrap, wrap);
}

std::vector<std::intptr_t> make_module_wrap_references() {
  std::vector<std::intptr_t> all{reinterpret_cast<std::intptr_t>(construct),
                                 reinterpret_cast<std::intptr_t>(has_async_graph)};
  for (const Native& method : methods) all.push_back(reinterpret_cast<std::intptr_t>(method.call));
  return all;
}

const std::vector<std::intptr_t> module_wrap_references = make_module_wrap_references();

}  // namespace

extern const Binding module_wrap_binding{"module_wrap", module_wrap_natives, extend_module_wrap,
                                         module_wrap_references};

}  // namespace tare::engine
