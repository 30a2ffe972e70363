// internalBinding('cjs_lexer')
#include <vector>

#include "base/json.hpp"
#include "engine/isolate/native.hpp"
#include "engine/modules/cjs_exports.hpp"
#include "engine/modules/code_cache.hpp"

namespace tare::engine {
namespace {

using v8::Local;
using v8::Value;

/// What source says, from the cache if somebody has looked before: reading a large one takes longer than
/// compiling it.
CjsExports exports_of(v8::Isolate* isolate, Local<v8::String> source) {
  TextFacts facts(isolate, "exports ", source);
  if (const auto known = facts.known())
    return json::read<CjsExports>(json::parse(*known, "exports"), "exports");
  CjsExports found = find_cjs_exports(to_string(isolate, source));
  facts.keep(json::line(found));
  return found;
}

/// parse(source): [Set of names, Array of specifiers]
void parse(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Context> context = isolate->GetCurrentContext();
  Local<v8::String> source;
  if (!args[0]->ToString(context).ToLocal(&source)) return;
  const CjsExports found = exports_of(isolate, source);
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
