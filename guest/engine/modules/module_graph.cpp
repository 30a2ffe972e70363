// Linking, instantiating and evaluating modules, import() and import.meta.
#include <array>
#include <vector>

#include <fmt/format.h>

#include "engine/bindings/support.hpp"
#include "engine/modules/arrow.hpp"
#include "engine/modules/module_wrap.hpp"
#include "engine/modules/source.hpp"
#include "engine/modules/state.hpp"
#include "engine/modules/vm_context.hpp"
#include "engine/modules/watchdog.hpp"

namespace tare::engine {

using v8::Local;
using v8::MaybeLocal;
using v8::Value;

namespace {

constexpr int static_stride = 3;   // key, value, position
constexpr int dynamic_stride = 2;  // key, value
// kSourcePhase and kEvaluationPhase of the binding.
constexpr int source_phase = 1;
constexpr int evaluation_phase = 2;

int phase_number(v8::ModuleImportPhase phase) {
  return phase == v8::ModuleImportPhase::kSource ? source_phase : evaluation_phase;
}

Local<v8::Context> context_of_wrap(Local<v8::Context> current, Local<v8::Object> wrap) {
  const Local<Value> context = wrap_field(wrap, WrapField::context);
  return context->IsObject() ? context_of(current, context.As<v8::Object>()) : current;
}

bool same_attributes(Local<v8::Context> context, Local<v8::FixedArray> one, Local<v8::FixedArray> other) {
  if (one->Length() != other->Length()) return false;
  for (int i = 0; i < one->Length(); ++i) {
    if (i % static_stride == 2) continue;
    if (!one->Get(context, i).As<Value>()->StrictEquals(other->Get(context, i).As<Value>())) return false;
  }
  return true;
}

/// The wrap that link() was given for a request of `referrer`; throws in JavaScript when there is none.
Local<v8::Object> linked_wrap(Local<v8::Context> context, Local<v8::String> specifier,
                              Local<v8::FixedArray> attributes, Local<v8::Module> referrer) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  const auto failed = [&](std::string_view why) {
    throw_error(isolate, ErrorKind::error, "ERR_VM_MODULE_LINK_FAILURE", why);
    return Local<v8::Object>();
  };
  const Local<v8::Object> wrap = wrap_of(context, referrer);
  const Local<Value> linked = wrap.IsEmpty() ? Local<Value>() : wrap_field(wrap, WrapField::linked);
  const std::string name = to_string(isolate, specifier);
  if (linked.IsEmpty() || !linked->IsArray())
    return failed(fmt::format("request for '{}' is from invalid module", name));
  const Local<v8::FixedArray> requests = referrer->GetModuleRequests();
  for (int i = 0; i < requests->Length(); ++i) {
    const auto request = requests->Get(context, i).As<v8::ModuleRequest>();
    if (!request->GetSpecifier()->StrictEquals(specifier) ||
        !same_attributes(context, request->GetImportAttributes(), attributes))
      continue;
    Local<Value> found;
    if (!linked.As<v8::Array>()->Get(context, static_cast<std::uint32_t>(i)).ToLocal(&found)) return {};
    if (found->IsObject()) return found.As<v8::Object>();
  }
  return failed(fmt::format("request for '{}' is not in cache", name));
}

MaybeLocal<v8::Module> resolve(Local<v8::Context> context, Local<v8::String> specifier,
                               Local<v8::FixedArray> attributes, Local<v8::Module> referrer) {
  const Local<v8::Object> wrap = linked_wrap(context, specifier, attributes, referrer);
  if (wrap.IsEmpty()) return {};
  return module_of(wrap);
}

MaybeLocal<v8::Object> resolve_source(Local<v8::Context> context, Local<v8::String> specifier,
                                      Local<v8::FixedArray> attributes, Local<v8::Module> referrer) {
  const Local<v8::Object> wrap = linked_wrap(context, specifier, attributes, referrer);
  if (wrap.IsEmpty()) return {};
  const Local<Value> object = wrap_field(wrap, WrapField::source_object);
  if (object->IsObject()) return object.As<v8::Object>();
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  Local<Value> url;
  if (!wrap->Get(context, key(isolate, "url")).ToLocal(&url)) return {};
  throw_syntax_error(
      isolate, "ERR_SOURCE_PHASE_NOT_DEFINED",
      fmt::format("Source phase import object is not defined for module '{}'", to_string(isolate, url)));
  return {};
}

MaybeLocal<v8::Promise> import_dynamically(Local<v8::Context> context, Local<v8::Data> host_options,
                                           Local<Value> resource_name, Local<v8::String> specifier,
                                           v8::ModuleImportPhase phase, Local<v8::FixedArray> attributes) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  v8::EscapableHandleScope scope(isolate);
  const Local<v8::Symbol> symbol = host_symbol_of(context, host_options);
  const Local<Value> callback = module_state(context, ModuleSlot::import_callback);
  if (symbol.IsEmpty() || !callback->IsFunction()) {
    throw_error(isolate, ErrorKind::type, "ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING",
                "A dynamic import callback was not specified.");
    return {};
  }
  std::array<Local<Value>, 5> arguments{symbol, specifier, v8::Integer::New(isolate, phase_number(phase)),
                                        import_attributes(context, attributes, dynamic_stride),
                                        resource_name};
  Local<Value> result;
  if (!callback.As<v8::Function>()
           ->Call(context, v8::Undefined(isolate), static_cast<int>(arguments.size()), arguments.data())
           .ToLocal(&result))
    return {};
  if (result->IsPromise()) return scope.Escape(result.As<v8::Promise>());
  return {};
}

MaybeLocal<v8::Promise> import_evaluated(Local<v8::Context> context, Local<v8::Data> host_options,
                                         Local<Value> resource_name, Local<v8::String> specifier,
                                         Local<v8::FixedArray> attributes) {
  return import_dynamically(context, host_options, resource_name, specifier,
                            v8::ModuleImportPhase::kEvaluation, attributes);
}

void initialize_meta(Local<v8::Context> context, Local<v8::Module> module, Local<v8::Object> meta) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  const Local<v8::Object> wrap = wrap_of(context, module);
  const Local<Value> callback = module_state(context, ModuleSlot::meta_callback);
  Local<Value> symbol;
  if (wrap.IsEmpty() || !callback->IsFunction() ||
      !wrap->GetPrivate(context, library_symbol(isolate, "host_defined_option_symbol")).ToLocal(&symbol))
    return;
  std::array<Local<Value>, 3> arguments{symbol, meta, wrap};
  v8::TryCatch caught(isolate);
  if (callback.As<v8::Function>()
          ->Call(context, v8::Undefined(isolate), static_cast<int>(arguments.size()), arguments.data())
          .IsEmpty())
    caught.ReThrow();
}

}  // namespace

Local<v8::Object> import_attributes(Local<v8::Context> context, Local<v8::FixedArray> attributes,
                                    int stride) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  std::vector<Local<v8::Name>> names;
  std::vector<Local<Value>> values;
  for (int i = 0; i + 1 < attributes->Length(); i += stride) {
    names.push_back(attributes->Get(context, i).As<v8::Name>());
    values.push_back(attributes->Get(context, i + 1).As<Value>());
  }
  return v8::Object::New(isolate, v8::Null(isolate), names.data(), values.data(), names.size());
}

void set_module_callbacks(v8::Isolate* isolate) {
  isolate->SetHostImportModuleDynamicallyCallback(import_evaluated);
  isolate->SetHostImportModuleWithPhaseDynamicallyCallback(import_dynamically);
  isolate->SetHostInitializeImportMetaObjectCallback(initialize_meta);
}

MaybeLocal<Value> run_synthetic_steps(Local<v8::Context> context, Local<v8::Module> module) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  v8::EscapableHandleScope scope(isolate);
  const Local<v8::Object> wrap = wrap_of(context, module);
  const Local<Value> steps = wrap.IsEmpty() ? Local<Value>() : wrap_field(wrap, WrapField::steps);
  if (!steps.IsEmpty() && steps->IsFunction()) {
    v8::TryCatch caught(isolate);
    if (steps.As<v8::Function>()->Call(context, wrap, 0, nullptr).IsEmpty()) {
      caught.ReThrow();
      return {};
    }
  }
  Local<v8::Promise::Resolver> resolver;
  if (!v8::Promise::Resolver::New(context).ToLocal(&resolver)) return {};
  resolver->Resolve(context, v8::Undefined(isolate)).Check();
  return scope.Escape(resolver->GetPromise().As<Value>());
}

/// getModuleRequests(): [{specifier, attributes, phase}]
void get_module_requests(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  const Local<v8::FixedArray> requests = module_of(args.This())->GetModuleRequests();
  std::array<Local<v8::Name>, 3> names{key(isolate, "specifier"), key(isolate, "attributes"),
                                       key(isolate, "phase")};
  std::vector<Local<Value>> found;
  for (int i = 0; i < requests->Length(); ++i) {
    const auto request = requests->Get(context, i).As<v8::ModuleRequest>();
    std::array<Local<Value>, 3> values{
        request->GetSpecifier(), import_attributes(context, request->GetImportAttributes(), static_stride),
        v8::Integer::New(isolate, phase_number(request->GetPhase()))};
    found.push_back(v8::Object::New(isolate, v8::Null(isolate), names.data(), values.data(), names.size()));
  }
  args.GetReturnValue().Set(v8::Array::New(isolate, found.data(), found.size()));
}

/// link(wraps): one for each request, in their order.
void link_module(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  const int wanted = module_of(args.This())->GetModuleRequests()->Length();
  if (!args[0]->IsArray() || args[0].As<v8::Array>()->Length() != static_cast<std::uint32_t>(wanted))
    return throw_error(isolate, ErrorKind::error, "ERR_VM_MODULE_LINK_FAILURE",
                       "linking error, dependency set mismatch");
  const auto given = args[0].As<v8::Array>();
  std::vector<Local<Value>> wraps;
  for (std::uint32_t i = 0; i < given->Length(); ++i) {
    Local<Value> wrap;
    if (!given->Get(context, i).ToLocal(&wrap)) return;
    if (!wrap->IsObject() ||
        wrap.As<v8::Object>()->InternalFieldCount() != static_cast<int>(WrapField::count))
      return throw_error(isolate, ErrorKind::error, "ERR_VM_MODULE_LINK_FAILURE",
                         "linking error, expected a valid module object");
    wraps.push_back(wrap);
  }
  args.This()->SetInternalField(static_cast<int>(WrapField::linked),
                                v8::Array::New(isolate, wraps.data(), wraps.size()));
}

void instantiate_module(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> current = isolate->GetCurrentContext();
  const Local<v8::Object> self = args.This();
  if (!wrap_field(self, WrapField::linked)->IsArray() && module_of(self)->IsSourceTextModule())
    return throw_error(isolate, ErrorKind::error, "ERR_VM_MODULE_LINK_FAILURE", "module is not linked");
  const Local<v8::Context> context = context_of_wrap(current, self);
  v8::TryCatch caught(isolate);
  if (module_of(self)->InstantiateModule(context, resolve, resolve_source).IsNothing()) {
    append_arrow(current, caught);
    caught.ReThrow();
  }
}

/// evaluate(timeout, breakOnSigint): the promise of its evaluation.
void evaluate_module(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> current = isolate->GetCurrentContext();
  const Local<v8::Context> context = context_of_wrap(current, args.This());
  const auto timeout = args[0]->IntegerValue(current).FromMaybe(-1);
  v8::TryCatch caught(isolate);
  ScriptWatchdog watchdog(isolate, timeout);
  Local<Value> result;
  const bool ran = module_of(args.This())->Evaluate(context).ToLocal(&result);
  if (watchdog.stop() == ScriptWatchdog::Outcome::timed_out) {
    caught.Reset();
    throw_error(isolate, ErrorKind::error, "ERR_SCRIPT_EXECUTION_TIMEOUT",
                fmt::format("Script execution timed out after {}ms", timeout));
    caught.ReThrow();
    return;
  }
  if (!ran) {
    caught.ReThrow();
    return;
  }
  args.GetReturnValue().Set(result);
}

/// evaluateSync(): evaluates a graph without top-level await, as require() does; the namespace.
void evaluate_module_sync(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  const Local<v8::Module> module = module_of(args.This());
  if (module->GetStatus() < v8::Module::kInstantiated)
    return throw_error(isolate, ErrorKind::error, "ERR_MODULE_NOT_INSTANTIATED",
                       "Module is not instantiated");
  Local<Value> result;
  {
    v8::TryCatch caught(isolate);
    if (!module->Evaluate(context).ToLocal(&result)) {
      append_arrow(context, caught);
      caught.ReThrow();
      return;
    }
  }
  const auto promise = result.As<v8::Promise>();
  if (promise->State() == v8::Promise::kRejected) {
    const Local<Value> reason = promise->Result();
    // Thrown here, hence not left unhandled; the library hears of that by a handler that is added.
    Local<v8::Function> nothing;
    if (v8::Function::New(context, [](const Arguments&) {}).ToLocal(&nothing) &&
        promise->Catch(context, nothing).IsEmpty())
      return;
    const Local<v8::Message> message = v8::Exception::CreateMessage(isolate, reason);
    const std::string source = error_source(isolate, context, message);
    const Local<v8::Private> arrow = library_symbol(isolate, "arrow_message_private_symbol");
    if (reason->IsObject() && !source.empty()) {
      Local<Value> before;
      if (reason.As<v8::Object>()->GetPrivate(context, arrow).ToLocal(&before) && !before->IsString())
        (void)reason.As<v8::Object>()->SetPrivate(context, arrow, to_v8(isolate, source));
    }
    isolate->ThrowException(reason);
    return;
  }
  args.GetReturnValue().Set(module->GetModuleNamespace());
}

/// throwIfPromiseRejected(promise)
void throw_if_promise_rejected(const Arguments& args) {
  if (!args[0]->IsPromise()) return;
  const auto promise = args[0].As<v8::Promise>();
  if (promise->State() == v8::Promise::kRejected) args.GetIsolate()->ThrowException(promise->Result());
}

/// unsettledAwait(): once nothing is left to do, what Node says of a main module that still waits; empty when
/// V8 doesn't know where, undefined when it has come to its end.
void unsettled_await(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  const auto entry = [&](std::string_view name) {
    Local<Value> value;
    if (!context->Global()->GetPrivate(context, library_symbol(isolate, name)).ToLocal(&value))
      return v8::Undefined(isolate).As<Value>();
    return value;
  };
  const Local<Value> promise = entry("entry_point_promise_private_symbol");
  if (!promise->IsPromise() || promise.As<v8::Promise>()->State() != v8::Promise::kPending) return;
  std::string text;
  const Local<Value> wrap = entry("entry_point_module_private_symbol");
  if (wrap->IsObject()) {
    const auto stalled = module_of(wrap.As<v8::Object>())->GetStalledTopLevelAwaitMessages(isolate);
    for (const Local<v8::Message>& message : stalled.second)
      text += fmt::format("Warning: Detected unsettled top-level await at {}\n\n\n",
                          error_source(isolate, context, message));
  }
  args.GetReturnValue().Set(to_v8(isolate, text));
}

/// createRequiredModuleFacade(wrap): the namespace of a module that re-exports another, with __esModule: what
/// require() of an ES module with a default export gives.
void create_required_module_facade(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  const Local<v8::String> name = key(isolate, "node:internal/require_module_default_facade");
  const Local<v8::String> code =
      key(isolate,
          "export * from 'original'; export { default } from 'original'; export const __esModule = true;");
  v8::ScriptCompiler::Source source(
      code, make_origin(isolate, {.name = name, .host_symbol = v8::Symbol::New(isolate, name)},
                        SourceType::module));
  Local<v8::Module> facade;
  if (!v8::ScriptCompiler::CompileModule(isolate, &source).ToLocal(&facade)) return;
  set_module_state(context, ModuleSlot::facade, args[0]);
  const auto original = [](Local<v8::Context> inside, Local<v8::String>, Local<v8::FixedArray>,
                           Local<v8::Module>) -> MaybeLocal<v8::Module> {
    return module_of(module_state(inside, ModuleSlot::facade).As<v8::Object>());
  };
  const bool made =
      facade->InstantiateModule(context, original).FromMaybe(false) && !facade->Evaluate(context).IsEmpty();
  set_module_state(context, ModuleSlot::facade, v8::Undefined(isolate));
  if (made) args.GetReturnValue().Set(facade->GetModuleNamespace());
}

}  // namespace tare::engine
