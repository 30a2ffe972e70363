// internalBinding('contextify'): compiling for CommonJS and for the module vm.
#include <array>
#include <vector>

#include "engine/bindings/support.hpp"
#include "engine/isolate/native.hpp"
#include "engine/modules/arrow.hpp"
#include "engine/modules/code_cache.hpp"
#include "engine/modules/script.hpp"
#include "engine/modules/source.hpp"
#include "engine/modules/state.hpp"
#include "engine/modules/vm_context.hpp"

namespace tare::engine {
namespace {

using v8::Local;
using v8::ScriptCompiler;
using v8::Value;

/// setup(symbols, toBuffer, warn): what the glue knows and the natives need.
void setup(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  const auto symbols = args[0].As<v8::Object>();
  const auto keep = [&](ModuleSlot slot, std::string_view name) {
    set_module_state(context, slot, symbols->Get(context, key(isolate, name)).ToLocalChecked());
  };
  keep(ModuleSlot::default_internal, "vm_dynamic_import_default_internal");
  keep(ModuleSlot::no_contextify, "vm_context_no_contextify");
  keep(ModuleSlot::imported_cjs, "imported_cjs_symbol");
  set_module_state(context, ModuleSlot::to_buffer, args[1]);
  set_module_state(context, ModuleSlot::warn, args[2]);
}

/// An object without a prototype.
template <std::size_t N>
Local<v8::Object> record(v8::Isolate* isolate, const std::array<std::string_view, N>& names,
                         std::array<Local<Value>, N> values) {
  std::array<Local<v8::Name>, N> keys;
  for (std::size_t i = 0; i < N; ++i) keys[i] = key(isolate, names[i]);
  return v8::Object::New(isolate, v8::Null(isolate), keys.data(), values.data(), N);
}

Local<v8::Symbol> default_symbol(Local<v8::Context> context) {
  return module_state(context, ModuleSlot::default_internal).As<v8::Symbol>();
}

/// A CommonJS module, with what the cache has of it.
v8::MaybeLocal<v8::Function> compile_commonjs(Local<v8::Context> context, Local<v8::String> code,
                                              Local<Value> name) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  CodeLookup lookup(isolate, "commonjs ", code);
  ScriptCompiler::Source source(
      code, make_origin(isolate, {.name = name, .host_symbol = default_symbol(context)}, SourceType::script),
      lookup.data().release());
  Local<v8::Function> function;
  if (!compile_function(context, source, Parameters::commonjs, lookup.options()).ToLocal(&function))
    return {};
  lookup.compiled(source);
  note_function(context, lookup.id_to_note(), function);
  return function;
}

/// What looks like an ES module is to be CommonJS: its author should know why it isn't taken for one.
void warn_of_module(Local<v8::Context> context, const std::string& name) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  const v8::TryCatch ignored(isolate);
  Local<Value> text = to_v8(isolate, "Failed to load the ES module: " + name +
                                         ". Make sure to set \"type\": \"module\" in the nearest "
                                         "package.json file or use the .mjs extension.");
  const Local<Value> warn = module_state(context, ModuleSlot::warn);
  if (warn.As<v8::Function>()->Call(context, v8::Undefined(isolate), 1, &text).IsEmpty()) return;
}

/// Node's library says what is wrong where a program can call; not everywhere, as Module.prototype._compile.
bool refuse_unless_strings(const Arguments& args, int count) {
  for (int i = 0; i < count; ++i) {
    if (args[i]->IsString()) continue;
    throw_error(args.GetIsolate(), ErrorKind::type, "ERR_INVALID_ARG_TYPE",
                "The source and its name must be strings");
    return true;
  }
  return false;
}

/// compileFunctionForCJSLoader(code, filename, isSeaMain, shouldDetectModule)
void compile_for_cjs(const Arguments& args) {
  if (refuse_unless_strings(args, 2)) return;
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  const auto code = args[0].As<v8::String>();
  Local<v8::Function> function;
  bool module = false;
  {
    v8::TryCatch caught(isolate);
    if (!compile_commonjs(context, code, args[1]).ToLocal(&function)) {
      if (caught.HasTerminated()) {
        caught.ReThrow();
        return;
      }
      const bool looks_so =
          is_module_after_all(context, to_string(isolate, caught.Message()->Get()), code, args[1]);
      module = looks_so && args[3]->IsTrue();
      if (!module) {
        if (looks_so) warn_of_module(context, to_string(isolate, args[1]));
        decorate(context, caught);
        caught.ReThrow();
        return;
      }
    }
  }
  const Local<Value> undefined = v8::Undefined(isolate);
  Local<Value> map_url = undefined;
  Local<Value> source_url = undefined;
  if (!function.IsEmpty()) {
    map_url = function->GetScriptOrigin().SourceMapUrl();
    source_url = function->GetScriptOrigin().ResourceName();
  }
  static constexpr std::array<std::string_view, 5> names{"cachedDataRejected", "sourceMapURL", "sourceURL",
                                                         "function", "canParseAsESM"};
  args.GetReturnValue().Set(
      record(isolate, names,
             {v8::False(isolate), map_url, source_url, function.IsEmpty() ? undefined : function.As<Value>(),
              v8::Boolean::New(isolate, module)}));
}

/// containsModuleSyntax(code, filename, resourceName, 'no CJS variables' or undefined)
void contains_module_syntax(const Arguments& args) {
  if (refuse_unless_strings(args, 1)) return;
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  const auto code = args[0].As<v8::String>();
  const Local<Value> name = args[2]->IsString() ? args[2] : args[1];
  ScriptCompiler::Source source(
      code, make_origin(isolate, {.name = name, .host_symbol = default_symbol(context)}, SourceType::script));
  const Parameters parameters = args[3]->IsUndefined() ? Parameters::commonjs : Parameters::none;
  bool module = false;
  {
    const v8::TryCatch caught(isolate);
    if (compile_function(context, source, parameters, ScriptCompiler::kNoCompileOptions).IsEmpty() &&
        !caught.HasTerminated())
      module = is_module_after_all(context, to_string(isolate, caught.Message()->Get()), code, name);
  }
  args.GetReturnValue().Set(module);
}

template <class T>
std::vector<Local<T>> elements(Local<v8::Context> context, Local<Value> list) {
  std::vector<Local<T>> found;
  if (!list->IsArray()) return found;
  const auto array = list.As<v8::Array>();
  for (std::uint32_t i = 0; i < array->Length(); ++i) {
    Local<Value> value;
    if (array->Get(context, i).ToLocal(&value)) found.push_back(value.As<T>());
  }
  return found;
}

/// compileFunction(code, filename, lineOffset, columnOffset, cachedData, produceCachedData, parsingContext,
/// contextExtensions, params, hostDefinedOptionId): vm.compileFunction
void compile_vm_function(const Arguments& args) {
  if (refuse_unless_strings(args, 2)) return;
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  const Local<v8::Symbol> symbol =
      args[9]->IsSymbol() ? args[9].As<v8::Symbol>() : v8::Symbol::New(isolate, args[1].As<v8::String>());
  std::unique_ptr<ScriptCompiler::CachedData> cached = cached_data_of(args[4]);
  const auto options = cached ? ScriptCompiler::kConsumeCodeCache : ScriptCompiler::kNoCompileOptions;
  const auto number = [&](int i) { return args[i]->Int32Value(context).FromMaybe(0); };
  ScriptCompiler::Source source(
      args[0].As<v8::String>(),
      make_origin(isolate, {.name = args[1], .line = number(2), .column = number(3), .host_symbol = symbol},
                  SourceType::script),
      cached.release());
  const Local<v8::Context> parsing =
      args[6]->IsObject() ? context_of(context, args[6].As<v8::Object>()) : context;
  auto extensions = elements<v8::Object>(context, args[7]);
  auto parameters = elements<v8::String>(context, args[8]);
  Local<v8::Function> function;
  {
    v8::TryCatch caught(isolate);
    const v8::Context::Scope inside(parsing);
    if (!ScriptCompiler::CompileFunction(parsing, &source, parameters.size(), parameters.data(),
                                         extensions.size(), extensions.data(), options)
             .ToLocal(&function)) {
      decorate(context, caught);
      caught.ReThrow();
      return;
    }
  }
  function->SetPrivate(context, library_symbol(isolate, "host_defined_option_symbol"), symbol).Check();
  const Local<Value> undefined = v8::Undefined(isolate);
  Local<Value> produced = undefined;
  Local<Value> buffer = undefined;
  if (args[5]->IsTrue()) {
    const std::unique_ptr<ScriptCompiler::CachedData> made(
        ScriptCompiler::CreateCodeCacheForFunction(function));
    if (made && !to_buffer(context, made.get()).ToLocal(&buffer)) return;
    produced = v8::Boolean::New(isolate, made != nullptr);
  }
  const Local<Value> rejected = options == ScriptCompiler::kConsumeCodeCache
                                    ? v8::Boolean::New(isolate, source.GetCachedData()->rejected).As<Value>()
                                    : undefined;
  static constexpr std::array<std::string_view, 6> names{
      "function", "sourceURL", "sourceMapURL", "cachedDataRejected", "cachedDataProduced", "cachedData"};
  const v8::ScriptOrigin origin = function->GetScriptOrigin();
  args.GetReturnValue().Set(record(
      isolate, names, {function, origin.ResourceName(), origin.SourceMapUrl(), rejected, produced, buffer}));
}

void do_nothing(const Arguments&) {}

void no(const Arguments& args) {
  args.GetReturnValue().Set(false);
}

const Native contextify_natives[] = {
    {"setup", setup},
    {"compileFunctionForCJSLoader", compile_for_cjs},
    {"containsModuleSyntax", contains_module_syntax},
    {"compileFunction", compile_vm_function},
    {"makeContext", make_context},
    {"startSigintWatchdog", do_nothing},
    {"stopSigintWatchdog", no},
    {"watchdogHasPendingSigint", no},
};

void extend_contextify(v8::Isolate* isolate, Local<v8::Context> context, Local<v8::Object> binding) {
  ensure_module_state(context);
  add_contextify_script(isolate, context, binding);
}

std::vector<std::intptr_t> make_contextify_references() {
  const auto script = contextify_script_references();
  std::vector<std::intptr_t> all(script.begin(), script.end());
  all.insert(all.end(), vm_context_references().begin(), vm_context_references().end());
  return all;
}

const std::vector<std::intptr_t> contextify_references = make_contextify_references();

}  // namespace

extern const Binding contextify_binding{"contextify", contextify_natives, extend_contextify,
                                        contextify_references};

}  // namespace tare::engine
