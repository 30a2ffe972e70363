// internalBinding('cjs_lexer')
#include <vector>

#include "engine/isolate/native.hpp"
#include "engine/modules/cjs_exports.hpp"

namespace tare::engine {
namespace {

using v8::Local;
using v8::Value;

/// parse(source): [Set of names, Array of specifiers]
void parse(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  const CjsExports found = find_cjs_exports(to_string(isolate, args[0]));
  const Local<v8::Set> names = v8::Set::New(isolate);
  for (const std::string& name : found.names) {
    if (names->Add(context, to_v8(isolate, name)).IsEmpty()) return;
  }
  std::vector<Local<Value>> specifiers;
  specifiers.reserve(found.reexports.size());
  for (const std::string& specifier : found.reexports) specifiers.push_back(to_v8(isolate, specifier));
  Local<Value> both[] = {names, v8::Array::New(isolate, specifiers.data(), specifiers.size())};
  args.GetReturnValue().Set(v8::Array::New(isolate, both, 2));
}

const Native cjs_lexer_natives[] = {{"parse", parse}};

}  // namespace

extern const Binding cjs_lexer_binding{"cjs_lexer", cjs_lexer_natives};

}  // namespace tare::engine
