#pragma once

#include <memory>
#include <string_view>
#include <v8.h>

namespace tare::engine {

/// Where source text comes from, and who answers its import().
struct SourceOrigin {
  v8::Local<v8::Value> name;
  int line = 0;
  int column = 0;
  v8::Local<v8::Symbol> host_symbol;
};

enum class SourceType : bool { script, module };

v8::ScriptOrigin make_origin(v8::Isolate* isolate, const SourceOrigin& origin, SourceType type);

/// The symbol that make_origin left with a script or module; empty when it was compiled without.
v8::Local<v8::Symbol> host_symbol_of(v8::Local<v8::Context> context, v8::Local<v8::Data> host_options);

/// A copy of a view's bytes as code that V8 may accept; null when it is no view.
std::unique_ptr<v8::ScriptCompiler::CachedData> cached_data_of(v8::Local<v8::Value> view);

/// Bytes as a Buffer of the realm; empty when that throws.
v8::MaybeLocal<v8::Value> to_buffer(v8::Local<v8::Context> context,
                                    const v8::ScriptCompiler::CachedData* data);

/// CommonJS: exports, require, module, __filename, __dirname; or a function without parameters.
enum class Parameters : bool { none, commonjs };
v8::MaybeLocal<v8::Function> compile_function(v8::Local<v8::Context> context,
                                              v8::ScriptCompiler::Source& source, Parameters parameters,
                                              v8::ScriptCompiler::CompileOptions options);

/// Whether what V8 said of CommonJS source means that it is an ES module: by its own words, or as the source
/// compiles as a module and only what modules may do (await outside of functions, names of CommonJS's
/// variables) was in the way.
bool is_module_after_all(v8::Local<v8::Context> context, std::string_view complaint,
                         v8::Local<v8::String> code, v8::Local<v8::Value> name);

}  // namespace tare::engine
