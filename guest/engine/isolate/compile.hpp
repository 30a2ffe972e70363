#pragma once

#include <string_view>
#include <v8.h>

#include "engine/isolate/pack.hpp"

namespace tare::engine {

/// Compiles a text of the pack as the body of a function. `kind` says with which parameters: module,
/// per_context, realm, main (as Node's own), boot, glue (guest/compat).
v8::MaybeLocal<v8::Function> compile_text(v8::Local<v8::Context> context, const PackText& text,
                                          std::string_view kind);

/// `kit` of guest/compat/boot.js.
v8::Local<v8::Object> make_kit(v8::Isolate* isolate, v8::Local<v8::Context> context);

}  // namespace tare::engine
