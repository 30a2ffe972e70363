#pragma once

#include <cstdint>
#include <span>
#include <v8.h>

namespace tare::engine {

/// Adds the class ContextifyScript, the base of vm.Script, to the binding.
void add_contextify_script(v8::Isolate* isolate, v8::Local<v8::Context> context,
                           v8::Local<v8::Object> binding);

/// What it gives to V8.
std::span<const std::intptr_t> contextify_script_references();

}  // namespace tare::engine
