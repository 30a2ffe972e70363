#pragma once

#include <v8.h>

#include "engine/isolate/native.hpp"

namespace tare::engine {

/// makeContext(contextObject or the symbol for none, name, origin, strings, wasm, ownMicrotaskQueue,
/// hostDefinedOptionId): vm.createContext.
void make_context(const Arguments& args);

/// The context of an object that makeContext has made one of; `current` when it has none.
v8::Local<v8::Context> context_of(v8::Local<v8::Context> current, v8::Local<v8::Object> contextified);

/// Runs the microtasks of a context that has a queue of its own (microtaskMode: 'afterEvaluate').
void run_microtasks_of(v8::Local<v8::Context> context);

}  // namespace tare::engine
