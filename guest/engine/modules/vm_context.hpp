#pragma once

#include <cstdint>
#include <span>
#include <v8.h>

#include "engine/isolate/native.hpp"

namespace tare::engine {

/// makeContext(contextObject or the symbol for none, name, origin, strings, wasm, ownMicrotaskQueue,
/// hostDefinedOptionId): vm.createContext.
void make_context(const Arguments& args);

/// The context of an object that makeContext has made one of; `current` when it has none.
v8::Local<v8::Context> context_of(v8::Local<v8::Context> current, v8::Local<v8::Object> contextified);

/// What the snapshot keeps as the model of such contexts: added to it as its first, beside the default one (a
/// context made without it would be a second realm of Node).
v8::Local<v8::Context> make_vm_context_model(v8::Isolate* isolate);
constexpr std::size_t vm_context_index = 0;

/// What its global object gives to V8.
std::span<const std::intptr_t> vm_context_references();

}  // namespace tare::engine
