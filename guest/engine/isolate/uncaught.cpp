// How Node ends for an exception that nobody caught: the line of source with a caret, the stack, the version.

#include <algorithm>
#include <array>
#include <node_version.h>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "engine/isolate/guest.hpp"
#include "engine/isolate/native.hpp"
#include "engine/isolate/realm.hpp"

namespace tare::engine {
namespace {

using v8::Local;
using v8::Value;

constexpr std::string_view glue = "node:tare/";
constexpr std::string_view trace_hint =
    "(Use `node --trace-uncaught ...` to show where the exception was thrown)\n";

Local<v8::Private> private_symbol(v8::Isolate* isolate, std::string_view name) {
  return v8::Private::ForApi(isolate, key(isolate, name));
}

/// Of what the glue threw, where Node has C++: the line of the library that called it, as it is Node's then.
std::string source_of_caller(v8::Isolate* isolate, Local<v8::Message> message) {
  const Local<v8::StackTrace> trace = message->GetStackTrace();
  for (int i = 0; !trace.IsEmpty() && i < trace->GetFrameCount(); ++i) {
    const Local<v8::StackFrame> frame = trace->GetFrame(isolate, static_cast<std::uint32_t>(i));
    const Local<v8::String> script = frame->GetScriptName();
    const Local<v8::String> source = frame->GetScriptSource();
    if (script.IsEmpty() || source.IsEmpty()) continue;
    const std::string name = to_string(isolate, script);
    if (name.starts_with(glue)) continue;
    const std::string text = to_string(isolate, source);
    std::size_t start = 0;
    for (int line = 1; line < frame->GetLineNumber() && start != std::string::npos; ++line) {
      start = text.find('\n', start);
      if (start != std::string::npos) ++start;
    }
    if (start == std::string::npos) return {};
    const std::string line = text.substr(start, text.find('\n', start) - start);
    const auto column = static_cast<std::size_t>(std::max(1, frame->GetColumn())) - 1;
    return fmt::format("{}:{}\n{}\n{}^\n", name, frame->GetLineNumber(), line, std::string(column, ' '));
  }
  return {};
}

/// "file:line", the line, and carets below what threw; empty when V8 doesn't know.
std::string source_of(v8::Isolate* isolate, Local<v8::Context> context, Local<v8::Message> message) {
  Local<v8::String> line;
  if (!message->GetSourceLine(context).ToLocal(&line)) return {};
  const std::string text = to_string(isolate, line);
  if (text.find("node-do-not-add-exception-line") != std::string::npos) return {};
  const v8::ScriptOrigin origin = message->GetScriptOrigin();
  const Local<Value> resource = origin.ResourceName();
  const std::string name =
      resource.IsEmpty() || resource->IsUndefined() ? "<anonymous_script>" : to_string(isolate, resource);
  const int number = message->GetLineNumber(context).FromMaybe(0);
  int start = message->GetStartColumn(context).FromMaybe(0);
  int end = message->GetEndColumn(context).FromMaybe(0);
  const int offset = number - origin.LineOffset() == 1 ? origin.ColumnOffset() : 0;
  if (start >= offset) {
    start -= offset;
    end -= offset;
  }
  if (name.starts_with(glue)) return source_of_caller(isolate, message);
  std::string marks;
  if (start > end || start < 0 || static_cast<std::size_t>(end) > text.size()) {
    return fmt::format("{}:{}\n{}\n", name, number, text);
  }
  constexpr int most = 1020;
  for (int i = 0; i < start && i < most; ++i) marks += text[static_cast<std::size_t>(i)] == '\t' ? '\t' : ' ';
  for (int i = start; i < end && i < most; ++i) marks += '^';
  return fmt::format("{}:{}\n{}\n{}\n", name, number, text, marks);
}

Local<Value> member(v8::Isolate* isolate, Local<v8::Context> context, Local<v8::Object> object,
                    std::string_view name) {
  Local<Value> value;
  const v8::TryCatch ignored(isolate);
  if (object->Get(context, key(isolate, name)).ToLocal(&value)) return value;
  return v8::Undefined(isolate);
}

/// The stack as Node's library decorates it for people, or undefined.
Local<Value> enhanced_stack(const Realm& realm, Local<v8::Object> error) {
  v8::Isolate* isolate = realm.isolate();
  Local<Value> stack = v8::Undefined(isolate);
  for (const std::string_view step : {"enhanceStack", "enhanceStackAfter"}) {
    const Local<Value> function = realm.callback(step);
    if (!function->IsFunction()) continue;
    const v8::TryCatch ignored(isolate);
    Local<Value> argument = error;
    Local<Value> result;
    if (function.As<v8::Function>()
            ->Call(realm.context(), v8::Undefined(isolate), 1, &argument)
            .ToLocal(&result))
      stack = result;
  }
  return stack;
}

/// What `${error}` is, or nothing when that throws.
std::string as_text(v8::Isolate* isolate, Local<v8::Context> context, Local<Value> value) {
  const v8::TryCatch ignored(isolate);
  Local<v8::String> text;
  return value->ToString(context).ToLocal(&text) ? to_string(isolate, text) : std::string();
}

/// The line of source goes with an error, which may have been given one before. Before anything else that is
/// thrown it is printed on its own.
std::string describe_object(const Realm& realm, Local<v8::Object> error, const std::string& source) {
  v8::Isolate* isolate = realm.isolate();
  const Local<v8::Context> context = realm.context();
  const Local<v8::Private> arrow_symbol = private_symbol(isolate, "arrow_message_private_symbol");
  const Local<v8::Private> decorated_symbol = private_symbol(isolate, "decorated_private_symbol");
  const bool native = error->IsNativeError();
  const std::string before = native || source.empty() ? std::string() : "\n" + source;
  Local<Value> arrow_value;
  if (!error->GetPrivate(context, arrow_symbol).ToLocal(&arrow_value)) arrow_value = v8::Undefined(isolate);
  if (native && !arrow_value->IsString() && !source.empty()) {
    arrow_value = to_v8(isolate, source);
    error->SetPrivate(context, arrow_symbol, arrow_value).Check();
  }
  Local<Value> decorated;
  const bool in_stack =
      error->GetPrivate(context, decorated_symbol).ToLocal(&decorated) && decorated->IsTrue();
  const std::string arrow =
      in_stack || !arrow_value->IsString() ? std::string() : to_string(isolate, arrow_value) + "\n";
  const Local<Value> stack = enhanced_stack(realm, error);
  const std::string trace = stack->IsUndefined() ? std::string() : to_string(isolate, stack);
  if (!trace.empty()) return before + arrow + trace + "\n";
  const Local<Value> message = member(isolate, context, error, "message");
  const Local<Value> name = member(isolate, context, error, "name");
  if (!message->IsUndefined() && !name->IsUndefined())
    return fmt::format("{}{}{}: {}\n", before, arrow, to_string(isolate, name), to_string(isolate, message));
  return before + as_text(isolate, context, error) + "\n" + std::string(trace_hint);
}

/// Where it was thrown, when --trace-uncaught asks for it.
std::string thrown_at(const Realm& realm, Local<v8::Message> message) {
  v8::Isolate* isolate = realm.isolate();
  if (message.IsEmpty() || !realm.callback("traceUncaught")->IsTrue()) return {};
  const Local<v8::StackTrace> trace = message->GetStackTrace();
  if (trace.IsEmpty()) return {};
  std::string text = "Thrown at:\n";
  for (int i = 0; i < trace->GetFrameCount(); ++i) {
    const Local<v8::StackFrame> frame = trace->GetFrame(isolate, static_cast<std::uint32_t>(i));
    const Local<v8::String> script = frame->GetScriptName();
    const std::string file = script.IsEmpty() ? std::string() : to_string(isolate, script);
    if (file.starts_with(glue)) continue;
    const std::string place = fmt::format("{}:{}:{}", file, frame->GetLineNumber(), frame->GetColumn());
    const Local<v8::String> function = frame->GetFunctionName();
    if (function.IsEmpty() || function->Length() == 0) {
      text += fmt::format("    at {}\n", place);
    } else {
      text += fmt::format("    at {} ({})\n", to_string(isolate, function), place);
    }
  }
  return text + "\n";
}

std::string describe(const Realm& realm, Local<Value> error, Local<v8::Message> message,
                     const std::string& source) {
  std::string text;
  if (error->IsObject()) {
    text = describe_object(realm, error.As<v8::Object>(), source);
  } else {
    text = (source.empty() ? "" : "\n" + source) + as_text(realm.isolate(), realm.context(), error) + "\n" +
           std::string(trace_hint);
  }
  const std::string where = thrown_at(realm, message);
  if (where.empty()) return text;
  if (text.ends_with(trace_hint)) text.resize(text.size() - trace_hint.size());
  return text + where;
}

void write_stderr(Guest& guest, std::string_view text) {
  const auto to = guest.process().fds().get(2);
  if (!to.ok()) return;
  // A reader that has gone is no reason to stop: the process ends anyway.
  (void)kernel::write_blocking(guest.process().wait(), **to, std::as_bytes(std::span(text)));
}

}  // namespace

void trigger_uncaught(v8::Isolate* isolate, Local<Value> error, Local<v8::Message> message, Thrower thrower) {
  Guest* guest = guest_of(isolate);
  if (guest == nullptr || guest->ending()) return;
  const v8::HandleScope scope(isolate);
  Realm& realm = guest->realm();
  const Local<v8::Context> context = realm.context();
  // Before anything else runs: the handlers may throw, too, and V8 forgets where this came from.
  const std::string source = message.IsEmpty() ? std::string() : source_of(isolate, context, message);

  constexpr int handler_failed = 7;
  const Local<Value> handler = realm.callback("fatalException");
  std::array<Local<Value>, 2> arguments{error, v8::Boolean::New(isolate, thrower == Thrower::promise)};
  v8::TryCatch caught(isolate);
  Local<Value> handled;
  if (!handler->IsFunction() || !handler.As<v8::Function>()
                                     ->Call(context, v8::Undefined(isolate), 2, arguments.data())
                                     .ToLocal(&handled)) {
    if (guest->ending() || caught.HasTerminated()) return;
    // The handler of uncaught exceptions threw: that is the one to show.
    const Local<Value> second = caught.Exception();
    const std::string where =
        caught.Message().IsEmpty() ? std::string() : source_of(isolate, context, caught.Message());
    write_stderr(*guest, describe(realm, second, caught.Message(), where) + "\nNode.js " NODE_VERSION "\n");
    guest->exit(handler_failed);
    return;
  }
  constexpr int no_handler = 6;
  if (handled->IsNull()) {
    write_stderr(*guest, describe(realm, error, message, source) + "\nNode.js " NODE_VERSION "\n");
    guest->exit(no_handler);
    return;
  }
  if (!handled->IsFalse()) return;
  write_stderr(*guest, describe(realm, error, message, source) + "\nNode.js " NODE_VERSION "\n");
  constexpr int exit_code = 1;  // of the array behind process.exitCode
  constexpr int has_exit_code = 2;
  const auto* info = realm.shared<std::int32_t>("exitInfo");
  guest->exit(info[has_exit_code] != 0 ? info[exit_code] : 1);
}

}  // namespace tare::engine
