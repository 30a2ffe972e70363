#pragma once

#include <v8.h>

#include "engine/isolate/native.hpp"

namespace tare::engine {

/// Where a ModuleWrap, the JavaScript object around a v8::Module, keeps what belongs to it.
enum class WrapField : int {
  module,         ///< the v8::Module
  script,         ///< a source text module's v8::UnboundModuleScript, which V8 gives only before it runs
  next,           ///< the next wrap whose module has the same hash, or undefined
  linked,         ///< Array of the wraps of its requests, or undefined until link()
  steps,          ///< a synthetic module's evaluation steps
  context,        ///< the object of vm.createContext that it belongs to, or undefined
  source_object,  ///< what `import source` gives, or undefined
  count
};

v8::Local<v8::Value> wrap_field(v8::Local<v8::Object> wrap, WrapField field);
v8::Local<v8::Module> module_of(v8::Local<v8::Object> wrap);

/// Remembers a wrap, so that wrap_of can find it by its module. For as long as the realm lives: Node's loader
/// forgets no module either.
void remember_wrap(v8::Local<v8::Context> context, v8::Local<v8::Object> wrap);

/// The wrap of a module; empty when there is none.
v8::Local<v8::Object> wrap_of(v8::Local<v8::Context> context, v8::Local<v8::Module> module);

/// The attributes of a request as Node's library wants them: an object without prototype. V8 gives a key, a
/// value and, for static imports, a position each: `stride` of 3 or 2.
v8::Local<v8::Object> import_attributes(v8::Local<v8::Context> context, v8::Local<v8::FixedArray> attributes,
                                        int stride);

/// import() and import.meta, to be set for every isolate that is restored from a snapshot.
void set_module_callbacks(v8::Isolate* isolate);

// The methods of the class, in module_graph.cpp.
void link_module(const Arguments& args);
void get_module_requests(const Arguments& args);
void instantiate_module(const Arguments& args);
void evaluate_module(const Arguments& args);
void evaluate_module_sync(const Arguments& args);
void create_required_module_facade(const Arguments& args);
void throw_if_promise_rejected(const Arguments& args);
void unsettled_await(const Arguments& args);

/// The steps of every synthetic module: calls the function that its wrap was made with.
v8::MaybeLocal<v8::Value> run_synthetic_steps(v8::Local<v8::Context> context, v8::Local<v8::Module> module);

}  // namespace tare::engine
