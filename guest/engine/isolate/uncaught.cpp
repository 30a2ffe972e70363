// How Node ends for an exception that nobody caught: the line of source with a caret, the stack, the version.

#include <array>
#include <node_version.h>
#include <string>

#include <fmt/format.h>

#include "engine/isolate/guest.hpp"
#include "engine/isolate/native.hpp"
#include "engine/isolate/realm.hpp"

namespace tare::engine {
namespace {

using v8::Local;
using v8::Value;

Local<v8::Private> private_symbol(v8::Isolate* isolate, std::string_view name) {
  return v8::Private::ForApi(isolate, key(isolate, name));
}

/// "file:line", the line, and carets below what threw; empty when V8 doesn't know.
std::string source_of(v8::Isolate* isolate, Local<v8::Context> context, Local<v8::Message> message) {
  Local<v8::String> line;
  if (!message->GetSourceLine(context).ToLocal(&line)) return {};
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
  std::string marks;
  if (start > end || start < 0 || static_cast<std::size_t>(end) > text.size()) {
    return fmt::format("{}:{}\n{}\n", to_string(isolate, origin.ResourceName()), number, text);
  }
  constexpr int most = 1020;
  for (int i = 0; i < start && i < most; ++i) marks += text[static_cast<std::size_t>(i)] == '\t' ? '\t' : ' ';
  for (int i = start; i < end && i < most; ++i) marks += '^';
  return fmt::format("{}:{}\n{}\n{}\n", to_string(isolate, origin.ResourceName()), number, text, marks);
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

std::string describe(const Realm& realm, Local<Value> error, const std::string& source) {
  v8::Isolate* isolate = realm.isolate();
  const Local<v8::Context> context = realm.context();
  std::string arrow = source;
  if (error->IsObject()) {
    const auto object = error.As<v8::Object>();
    const Local<v8::Private> arrow_symbol = private_symbol(isolate, "arrow_message_private_symbol");
    const Local<v8::Private> decorated_symbol = private_symbol(isolate, "decorated_private_symbol");
    Local<Value> kept;
    if (object->GetPrivate(context, arrow_symbol).ToLocal(&kept) && kept->IsString()) {
      arrow = to_string(isolate, kept);
    } else if (!source.empty()) {
      object->SetPrivate(context, arrow_symbol, to_v8(isolate, source)).Check();
    }
    Local<Value> decorated;
    const bool in_stack =
        object->GetPrivate(context, decorated_symbol).ToLocal(&decorated) && decorated->IsTrue();
    const Local<Value> stack = enhanced_stack(realm, object);
    const std::string trace = stack->IsUndefined() ? std::string() : to_string(isolate, stack);
    if (!trace.empty()) return in_stack || arrow.empty() ? trace + "\n" : arrow + "\n" + trace + "\n";
    const Local<Value> message = member(isolate, context, object, "message");
    const Local<Value> name = member(isolate, context, object, "name");
    if (!message->IsUndefined() && !name->IsUndefined())
      return fmt::format("{}\n{}: {}\n", arrow, to_string(isolate, name), to_string(isolate, message));
  }
  const v8::TryCatch ignored(isolate);
  Local<Value> argument = error;
  Local<Value> shown;
  const Local<Value> inspect = realm.callback("inspect");
  if (!inspect->IsFunction() ||
      !inspect.As<v8::Function>()->Call(context, v8::Undefined(isolate), 1, &argument).ToLocal(&shown))
    shown = to_v8(isolate, "<toString() threw exception>");
  return fmt::format("{}{}{}\n(Use `node --trace-uncaught ...` to show where the exception was thrown)\n",
                     arrow.empty() ? "" : "\n", arrow, to_string(isolate, shown));
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
    write_stderr(*guest, describe(realm, second, where) + "\nNode.js " NODE_VERSION "\n");
    guest->exit(handler_failed);
    return;
  }
  constexpr int no_handler = 6;
  if (handled->IsNull()) {
    write_stderr(*guest, describe(realm, error, source) + "\nNode.js " NODE_VERSION "\n");
    guest->exit(no_handler);
    return;
  }
  if (!handled->IsFalse()) return;
  write_stderr(*guest, describe(realm, error, source) + "\nNode.js " NODE_VERSION "\n");
  constexpr int exit_code = 1;  // of the array behind process.exitCode
  constexpr int has_exit_code = 2;
  const auto* info = realm.shared<std::int32_t>("exitInfo");
  guest->exit(info[has_exit_code] != 0 ? info[exit_code] : 1);
}

}  // namespace tare::engine
