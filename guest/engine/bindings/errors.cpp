#include "engine/bindings/support.hpp"

namespace tare::engine {
namespace {

void no_side_effects_to_string(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  v8::Local<v8::String> text;
  if (args[0]->ToDetailString(isolate->GetCurrentContext()).ToLocal(&text)) args.GetReturnValue().Set(text);
}

/// Where an error was made, without looking at its `stack`, which would run JavaScript.
void get_error_source_positions(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  const v8::Local<v8::Message> message = v8::Exception::CreateMessage(isolate, args[0]);
  v8::Local<v8::String> line;
  if (!message->GetSourceLine(context).ToLocal(&line)) line = v8::String::Empty(isolate);
  v8::Local<v8::Name> names[] = {key(isolate, "sourceLine"), key(isolate, "scriptResourceName"),
                                 key(isolate, "lineNumber"), key(isolate, "startColumn")};
  v8::Local<v8::Value> values[] = {line, message->GetScriptResourceName(),
                                   v8::Integer::New(isolate, message->GetLineNumber(context).FromMaybe(0)),
                                   v8::Integer::New(isolate, message->GetStartColumn(context).FromMaybe(0))};
  args.GetReturnValue().Set(v8::Object::New(isolate, v8::Null(isolate), names, values, 4));
}

constexpr Native errors_natives[] = {
    {"noSideEffectsToString", no_side_effects_to_string},
    {"getErrorSourcePositions", get_error_source_positions},
};

}  // namespace

extern const Binding errors_binding;
const Binding errors_binding{"errors", errors_natives};

}  // namespace tare::engine
