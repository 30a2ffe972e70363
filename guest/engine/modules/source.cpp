#include "engine/modules/source.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "engine/isolate/native.hpp"
#include "engine/modules/code_cache.hpp"
#include "engine/modules/state.hpp"

namespace tare::engine {

using v8::Local;
using v8::ScriptCompiler;
using v8::Value;

v8::ScriptOrigin make_origin(v8::Isolate* isolate, const SourceOrigin& origin, SourceType type) {
  const Local<v8::PrimitiveArray> options = v8::PrimitiveArray::New(isolate, 1);
  options->Set(isolate, 0, origin.host_symbol);
  return {origin.name, origin.line, origin.column,
          true,        -1,          Local<Value>(),
          false,       false,       type == SourceType::module,
          options};
}

Local<v8::Symbol> host_symbol_of(Local<v8::Context> context, Local<v8::Data> host_options) {
  const auto options = host_options.As<v8::FixedArray>();
  if (options->Length() != 1) return {};
  const auto value = options->Get(context, 0).As<Value>();
  return value->IsSymbol() ? value.As<v8::Symbol>() : Local<v8::Symbol>();
}

std::unique_ptr<ScriptCompiler::CachedData> cached_data_of(Local<Value> view) {
  if (!view->IsArrayBufferView()) return nullptr;
  const auto bytes = view.As<v8::ArrayBufferView>();
  const std::size_t size = bytes->ByteLength();
  auto copy = std::make_unique_for_overwrite<std::uint8_t[]>(size);
  bytes->CopyContents(copy.get(), size);
  // Nothing is what V8 rejects, and says so.
  const bool trusted = was_produced(std::span(copy.get(), size));
  // V8 deletes it.
  return std::make_unique<ScriptCompiler::CachedData>(copy.release(), trusted ? static_cast<int>(size) : 0,
                                                      ScriptCompiler::CachedData::BufferOwned);
}

v8::MaybeLocal<Value> to_buffer(Local<v8::Context> context, const ScriptCompiler::CachedData* data) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  const std::size_t size = data == nullptr ? 0 : static_cast<std::size_t>(data->length);
  Local<v8::ArrayBuffer> bytes;
  if (!v8::ArrayBuffer::MaybeNew(isolate, size).ToLocal(&bytes)) return {};
  if (size > 0) {
    std::memcpy(bytes->Data(), data->data, size);
    note_produced(std::span(data->data, size));
  }
  const Local<Value> make = module_state(context, ModuleSlot::to_buffer);
  Local<Value> argument = bytes;
  return make.As<v8::Function>()->Call(context, v8::Undefined(isolate), 1, &argument);
}

v8::MaybeLocal<v8::Function> compile_function(Local<v8::Context> context, ScriptCompiler::Source& source,
                                              Parameters parameters, ScriptCompiler::CompileOptions options) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  std::array<Local<v8::String>, 5> names{key(isolate, "exports"), key(isolate, "require"),
                                         key(isolate, "module"), key(isolate, "__filename"),
                                         key(isolate, "__dirname")};
  const std::size_t count = parameters == Parameters::commonjs ? names.size() : 0;
  return ScriptCompiler::CompileFunction(context, &source, count, names.data(), 0, nullptr, options);
}

bool is_module_after_all(Local<v8::Context> context, std::string_view complaint, Local<v8::String> code,
                         Local<Value> name) {
  static constexpr std::array<std::string_view, 3> sure{
      "Cannot use import statement outside a module",
      "Unexpected token 'export'",
      "Cannot use 'import.meta' outside a module",
  };
  // `f(await x)`, `[await 1]` and the like: V8 takes `await` for a name and stumbles over what follows it.
  static constexpr std::array<std::string_view, 8> maybe{
      "Identifier 'module' has already been declared",
      "Identifier 'exports' has already been declared",
      "Identifier 'require' has already been declared",
      "Identifier '__filename' has already been declared",
      "Identifier '__dirname' has already been declared",
      "await is only valid in async functions and the top level bodies of modules",
      "missing ) after argument list",
      "Unexpected ",
  };
  const auto named = [&](std::string_view text) { return complaint.find(text) != std::string_view::npos; };
  if (std::ranges::any_of(sure, named)) return true;
  if (std::ranges::none_of(maybe, named)) return false;
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  const v8::TryCatch quiet(isolate);
  const auto symbol = module_state(context, ModuleSlot::default_internal).As<v8::Symbol>();
  ScriptCompiler::Source source(
      code, make_origin(isolate, {.name = name, .host_symbol = symbol}, SourceType::module));
  return !ScriptCompiler::CompileModule(isolate, &source).IsEmpty();
}

}  // namespace tare::engine
