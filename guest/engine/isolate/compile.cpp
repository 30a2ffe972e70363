#include "engine/isolate/compile.hpp"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/bindings/kit.hpp"
#include "engine/isolate/guest.hpp"
#include "engine/isolate/isolate.hpp"
#include "engine/isolate/native.hpp"
#include "engine/modules/code_cache.hpp"

namespace tare::engine {
namespace {

using v8::Local;

std::span<const std::string_view> parameters_of(std::string_view kind) {
  static constexpr std::array<std::string_view, 6> module{"exports", "require",         "module",
                                                          "process", "internalBinding", "primordials"};
  static constexpr std::array<std::string_view, 4> per_context{"exports", "primordials", "privateSymbols",
                                                               "perIsolateSymbols"};
  static constexpr std::array<std::string_view, 4> realm{"process", "getLinkedBinding", "getInternalBinding",
                                                         "primordials"};
  static constexpr std::array<std::string_view, 4> main{"process", "require", "internalBinding",
                                                        "primordials"};
  static constexpr std::array<std::string_view, 1> boot{"kit"};
  static constexpr std::array<std::string_view, 1> glue{"tools"};
  if (kind == "per_context") return per_context;
  if (kind == "realm") return realm;
  if (kind == "main") return main;
  if (kind == "boot") return boot;
  if (kind == "glue") return glue;
  return module;
}

v8::MaybeLocal<v8::Function> compile_function(Local<v8::Context> context, v8::ScriptCompiler::Source& source,
                                              std::vector<Local<v8::String>>& parameters,
                                              v8::ScriptCompiler::CompileOptions options) {
  return v8::ScriptCompiler::CompileFunction(context, &source, parameters.size(), parameters.data(), 0,
                                             nullptr, options);
}

}  // namespace

v8::MaybeLocal<v8::Function> compile_text(Local<v8::Context> context, const PackText& text,
                                          std::string_view kind) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  std::vector<Local<v8::String>> parameters;
  for (const std::string_view name : parameters_of(kind)) parameters.push_back(key(isolate, name));
  const std::string name = "node:" + std::string(text.id());
  // V8 takes it as it is: the pack lives as long as the process.
  auto* resource = const_cast<PackText*>(&text);
  Local<v8::String> source;
  if (!v8::String::NewExternalOneByte(isolate, resource).ToLocal(&source)) return {};
  const v8::ScriptOrigin origin(to_v8(isolate, name));
  // Functions that are compiled with their file have no name but their own, as in Node's snapshot: stack
  // traces of the loaders say "Object..js". What is compiled when it is called is named
  // "Module._extensions..js".
  const bool eager =
      text.id().starts_with("internal/modules/") || text.id() == "internal/per_context/messageport";
  const auto options = eager ? v8::ScriptCompiler::kEagerCompile : v8::ScriptCompiler::kNoCompileOptions;
  if (guest_of(isolate) == nullptr) {
    v8::ScriptCompiler::Source script(source, origin);
    return compile_function(context, script, parameters, options);
  }
  const std::shared_ptr<const CodeCache::Code> code = code_cache().find(text.id());
  if (code == nullptr) {
    v8::ScriptCompiler::Source script(source, origin);
    Local<v8::Function> function;
    if (!compile_function(context, script, parameters, options).ToLocal(&function)) return {};
    note_function(context, text.id(), function);
    return function;
  }
  v8::ScriptCompiler::Source script(source, origin, cached_data(*code).release());
  const v8::MaybeLocal<v8::Function> function =
      compile_function(context, script, parameters, v8::ScriptCompiler::kConsumeCodeCache);
  if (script.GetCachedData()->rejected) code_cache().reject(text.id());
  return function;
}

}  // namespace tare::engine
