#include "engine/modules/arrow.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "engine/bindings/support.hpp"

namespace tare::engine {

using v8::Local;
using v8::Value;

void throw_syntax_error(v8::Isolate* isolate, std::string_view code, std::string_view message) {
  const Local<Value> error = v8::Exception::SyntaxError(to_v8(isolate, message));
  set(isolate, error.As<v8::Object>(), "code", to_v8(isolate, code));
  isolate->ThrowException(error);
}

std::string error_source(v8::Isolate* isolate, Local<v8::Context> context, Local<v8::Message> message) {
  Local<v8::String> line;
  if (message.IsEmpty() || !message->GetSourceLine(context).ToLocal(&line)) return {};
  const std::string text = to_string(isolate, line);
  if (text.find("node-do-not-add-exception-line") != std::string::npos) return {};
  const v8::ScriptOrigin origin = message->GetScriptOrigin();
  const int number = message->GetLineNumber(context).FromMaybe(0);
  int start = message->GetStartColumn(context).FromMaybe(0);
  int end = message->GetEndColumn(context).FromMaybe(0);
  const int offset = number - origin.LineOffset() == 1 ? origin.ColumnOffset() : 0;
  if (start >= offset) {
    start -= offset;
    end -= offset;
  }
  std::string shown =
      fmt::format("{}:{}\n{}\n", to_string(isolate, message->GetScriptResourceName()), number, text);
  if (start > end || start < 0 || static_cast<std::size_t>(end) > text.size()) return shown;
  constexpr int most = 1020;  // columns, as Node
  for (int i = 0; i < std::min(start, most); ++i)
    shown += text[static_cast<std::size_t>(i)] == '\t' ? '\t' : ' ';
  for (int i = start; i < std::min(end, most); ++i) shown += '^';
  return shown + "\n";
}

Local<v8::Private> library_symbol(v8::Isolate* isolate, std::string_view name) {
  return v8::Private::ForApi(isolate, key(isolate, name));
}

namespace {

bool is_decorated(v8::Isolate* isolate, Local<v8::Context> context, Local<v8::Object> error) {
  Local<Value> decorated;
  return error->GetPrivate(context, library_symbol(isolate, "decorated_private_symbol"))
             .ToLocal(&decorated) &&
         decorated->IsTrue();
}

}  // namespace

void append_arrow(Local<v8::Context> context, const v8::TryCatch& caught) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  if (!caught.HasCaught() || caught.HasTerminated() || !caught.Exception()->IsObject()) return;
  const auto error = caught.Exception().As<v8::Object>();
  if (is_decorated(isolate, context, error)) return;
  const Local<v8::Private> symbol = library_symbol(isolate, "arrow_message_private_symbol");
  Local<Value> before;
  if (error->GetPrivate(context, symbol).ToLocal(&before) && before->IsString()) return;
  const std::string source = error_source(isolate, context, caught.Message());
  if (source.empty()) return;
  const v8::TryCatch ignored(isolate);
  (void)error->SetPrivate(context, symbol, to_v8(isolate, source));
}

void decorate(Local<v8::Context> context, const v8::TryCatch& caught) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  if (!caught.HasCaught() || caught.HasTerminated() || !caught.Exception()->IsObject()) return;
  const auto error = caught.Exception().As<v8::Object>();
  if (is_decorated(isolate, context, error)) return;
  append_arrow(context, caught);
  const v8::TryCatch ignored(isolate);
  Local<Value> arrow;
  if (!error->GetPrivate(context, library_symbol(isolate, "arrow_message_private_symbol")).ToLocal(&arrow) ||
      !arrow->IsString())
    return;
  const Local<v8::String> name = key(isolate, "stack");
  Local<Value> stack;
  if (!error->Get(context, name).ToLocal(&stack) || !stack->IsString()) return;
  const Local<v8::String> head = v8::String::Concat(isolate, arrow.As<v8::String>(), key(isolate, "\n"));
  if (error->Set(context, name, v8::String::Concat(isolate, head, stack.As<v8::String>())).FromMaybe(false))
    (void)error->SetPrivate(context, library_symbol(isolate, "decorated_private_symbol"), v8::True(isolate));
}

}  // namespace tare::engine
