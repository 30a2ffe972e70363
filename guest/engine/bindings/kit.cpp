#include "engine/bindings/kit.hpp"

#include <bit>

#include "engine/isolate/compile.hpp"
#include "engine/isolate/guest.hpp"
#include "engine/isolate/isolate.hpp"

namespace tare::engine {
namespace {

using v8::Local;
using v8::Value;

/// compile(id, kind): the function; undefined when there is no such text.
void compile(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const PackText* text = engine().pack->find(to_string(isolate, args[0]));
  Local<v8::Function> function;
  if (text != nullptr &&
      compile_text(isolate->GetCurrentContext(), *text, to_string(isolate, args[1])).ToLocal(&function))
    args.GetReturnValue().Set(function);
}

/// natives(name): the functions of a binding; undefined when it has none.
void natives_of(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Binding* binding = find_binding(to_string(isolate, args[0]));
  if (binding != nullptr)
    args.GetReturnValue().Set(make_members(isolate, isolate->GetCurrentContext(), *binding));
}

/// text(id): the text itself; undefined when there is none.
void text(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const PackText* found = engine().pack->find(to_string(isolate, args[0]));
  Local<v8::String> string;
  if (found != nullptr &&
      v8::String::NewExternalOneByte(isolate, const_cast<PackText*>(found)).ToLocal(&string))
    args.GetReturnValue().Set(string);
}

/// privateSymbol(name): a symbol that reflection can't see, as Node's library uses them.
void private_symbol(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const Local<v8::Private> symbol = v8::Private::ForApi(isolate, args[0].As<v8::String>());
  // A private symbol is a symbol to V8, though its API keeps them apart.
  args.GetReturnValue().Set(std::bit_cast<Local<Value>>(symbol));
}

/// ready(callbacks): what the engine calls later.
void ready(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  args.This()->Set(isolate->GetCurrentContext(), key(isolate, "callbacks"), args[0]).Check();
}

void set_promise_hooks(const Arguments& args) {
  const auto function = [&](int i) {
    return args[i]->IsFunction() ? args[i].As<v8::Function>() : Local<v8::Function>();
  };
  args.GetIsolate()->GetCurrentContext()->SetPromiseHooks(function(0), function(1), function(2), function(3));
}

/// collect(): a whole collection.
void collect(const Arguments& args) {
  args.GetIsolate()->LowMemoryNotification();
}

/// dropCode(): a collection that also drops the code of every function, which is compiled again when the
/// function next runs. Only while a snapshot is made: it is a flag of the process, which no other isolate may
/// see.
void drop_code(const Arguments& args) {
  if (guest_of(args.GetIsolate()) != nullptr) return;
  v8::V8::SetFlagsFromString("--stress-flush-code");
  args.GetIsolate()->LowMemoryNotification();
  v8::V8::SetFlagsFromString("--no-stress-flush-code");
}

const Native kit_natives[] = {
    {"collect", collect}, {"dropCode", drop_code},
    {"compile", compile}, {"natives", natives_of},
    {"text", text},       {"privateSymbol", private_symbol},
    {"ready", ready},     {"setPromiseHooks", set_promise_hooks},
};

}  // namespace

const Binding kit_binding{"kit", kit_natives};

Local<v8::Object> make_kit(v8::Isolate* isolate, Local<v8::Context> context) {
  return make_members(isolate, context, kit_binding);
}

}  // namespace tare::engine
