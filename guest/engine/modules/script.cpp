// The class ContextifyScript: source compiled once, to be run in this context or one of vm.createContext.
#include "engine/modules/script.hpp"

#include <fmt/format.h>

#include "engine/bindings/support.hpp"
#include "engine/isolate/native.hpp"
#include "engine/modules/arrow.hpp"
#include "engine/modules/source.hpp"
#include "engine/modules/state.hpp"
#include "engine/modules/vm_context.hpp"
#include "engine/modules/watchdog.hpp"

namespace tare::engine {
namespace {

using v8::Local;
using v8::ScriptCompiler;
using v8::Value;

constexpr int script_field = 0;  ///< the v8::UnboundScript
constexpr int field_count = 1;

int integer(Local<v8::Context> context, Local<Value> value) {
  return value->Int32Value(context).FromMaybe(0);
}

/// new ContextifyScript(code, filename, lineOffset, columnOffset, cachedData, produceCachedData,
/// parsingContext, hostDefinedOptionId)
void construct_script(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  if (!args.IsConstructCall() || !args[0]->IsString() || !args[1]->IsString()) {
    return throw_error(isolate, ErrorKind::type, "ERR_CONSTRUCT_CALL_REQUIRED",
                       "Class constructor ContextifyScript cannot be invoked without `new`");
  }
  const Local<v8::Object> self = args.This();
  const Local<v8::Symbol> symbol =
      args[7]->IsSymbol() ? args[7].As<v8::Symbol>() : v8::Symbol::New(isolate, args[1].As<v8::String>());
  const v8::ScriptOrigin origin = make_origin(isolate,
                                              {.name = args[1],
                                               .line = integer(context, args[2]),
                                               .column = integer(context, args[3]),
                                               .host_symbol = symbol},
                                              SourceType::script);
  std::unique_ptr<ScriptCompiler::CachedData> cached = cached_data_of(args[4]);
  const auto options = cached ? ScriptCompiler::kConsumeCodeCache : ScriptCompiler::kNoCompileOptions;
  ScriptCompiler::Source source(args[0].As<v8::String>(), origin, cached.release());
  const Local<v8::Context> parsing =
      args[6]->IsObject() ? context_of(context, args[6].As<v8::Object>()) : context;
  Local<v8::UnboundScript> script;
  {
    v8::TryCatch caught(isolate);
    const v8::Context::Scope inside(parsing);
    if (!ScriptCompiler::CompileUnboundScript(isolate, &source, options).ToLocal(&script)) {
      decorate(context, caught);
      caught.ReThrow();
      return;
    }
  }
  self->SetInternalField(script_field, script);
  self->SetPrivate(context, library_symbol(isolate, "host_defined_option_symbol"), symbol).Check();
  if (options == ScriptCompiler::kConsumeCodeCache)
    set(isolate, self, "cachedDataRejected", v8::Boolean::New(isolate, source.GetCachedData()->rejected));
  if (args[5]->IsTrue()) {
    const std::unique_ptr<ScriptCompiler::CachedData> made(ScriptCompiler::CreateCodeCache(script));
    Local<Value> buffer;
    if (made && !to_buffer(context, made.get()).ToLocal(&buffer)) return;
    if (made) set(isolate, self, "cachedData", buffer);
    set(isolate, self, "cachedDataProduced", v8::Boolean::New(isolate, made != nullptr));
  }
  set(isolate, self, "sourceURL", script->GetSourceURL());
  set(isolate, self, "sourceMapURL", script->GetSourceMappingURL());
}

void create_script_cached_data(const Arguments& args) {
  const auto script = args.This()->GetInternalField(script_field).As<v8::UnboundScript>();
  const std::unique_ptr<ScriptCompiler::CachedData> made(ScriptCompiler::CreateCodeCache(script));
  Local<Value> buffer;
  if (to_buffer(args.GetIsolate()->GetCurrentContext(), made.get()).ToLocal(&buffer))
    args.GetReturnValue().Set(buffer);
}

/// runInContext(contextifiedObject or null, timeout, displayErrors, breakOnSigint, breakOnFirstLine): the
/// last two don't matter, as no signal of a terminal and no debugger gets here.
void run_in_context(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> current = isolate->GetCurrentContext();
  const Local<v8::Context> context =
      args[0]->IsObject() ? context_of(current, args[0].As<v8::Object>()) : current;
  const auto timeout = args[1]->IntegerValue(current).FromMaybe(-1);
  v8::TryCatch caught(isolate);
  const v8::Context::Scope inside(context);
  const auto script =
      args.This()->GetInternalField(script_field).As<v8::UnboundScript>()->BindToCurrentContext();
  ScriptWatchdog watchdog(isolate, timeout);
  Local<Value> result;
  const bool ran = script->Run(context).ToLocal(&result);
  if (watchdog.stop() == ScriptWatchdog::Outcome::timed_out) {
    caught.Reset();
    // An error of the script's own context, as in Node, thrown past the scope of `caught`.
    throw_error(isolate, ErrorKind::error, "ERR_SCRIPT_EXECUTION_TIMEOUT",
                fmt::format("Script execution timed out after {}ms", timeout));
    caught.ReThrow();
    return;
  }
  if (!ran) {
    if (args[2]->IsTrue()) decorate(context, caught);
    caught.ReThrow();
    return;
  }
  args.GetReturnValue().Set(result);
}

}  // namespace

void add_contextify_script(v8::Isolate* isolate, Local<v8::Context> context, Local<v8::Object> binding) {
  const Local<v8::FunctionTemplate> made = v8::FunctionTemplate::New(isolate, construct_script);
  made->SetClassName(key(isolate, "ContextifyScript"));
  made->InstanceTemplate()->SetInternalFieldCount(field_count);
  const Local<v8::Signature> signature = v8::Signature::New(isolate, made);
  const auto method = [&](std::string_view name, v8::FunctionCallback call) {
    const Local<v8::FunctionTemplate> function =
        v8::FunctionTemplate::New(isolate, call, {}, signature, 0, v8::ConstructorBehavior::kThrow);
    function->SetClassName(key(isolate, name));
    made->PrototypeTemplate()->Set(isolate, std::string(name).c_str(), function);
  };
  method("createCachedData", create_script_cached_data);
  method("runInContext", run_in_context);
  set(isolate, binding, "ContextifyScript", made->GetFunction(context).ToLocalChecked());
}

std::span<const std::intptr_t> contextify_script_references() {
  static const std::intptr_t all[] = {
      reinterpret_cast<std::intptr_t>(construct_script),
      reinterpret_cast<std::intptr_t>(create_script_cached_data),
      reinterpret_cast<std::intptr_t>(run_in_context),
  };
  return all;
}

}  // namespace tare::engine
