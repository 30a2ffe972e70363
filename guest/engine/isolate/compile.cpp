#include "engine/isolate/compile.hpp"

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/bindings/kit.hpp"
#include "engine/isolate/guest.hpp"
#include "engine/isolate/isolate.hpp"
#include "engine/isolate/native.hpp"

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
  static constexpr std::array<std::string_view, 4> main{"process", "require", "internalBinding", "primordials"};
  static constexpr std::array<std::string_view, 2> boot{"host", "kit"};
  static constexpr std::array<std::string_view, 1> glue{"tools"};
  if (kind == "per_context") return per_context;
  if (kind == "realm") return realm;
  if (kind == "main") return main;
  if (kind == "boot") return boot;
  if (kind == "glue") return glue;
  return module;
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
  v8::ScriptCompiler::Source script(source, origin);
  // Functions that a snapshot holds compiled have no name but their own, as in Node's snapshot: stack traces of the
  // loaders say "Object..js". What is compiled later is called "Module._extensions..js".
  const bool eager = guest_of(isolate) == nullptr && text.id().starts_with("internal/modules/");
  return v8::ScriptCompiler::CompileFunction(
      context, &script, parameters.size(), parameters.data(), 0, nullptr,
      eager ? v8::ScriptCompiler::kEagerCompile : v8::ScriptCompiler::kNoCompileOptions);
}

}  // namespace tare::engine
