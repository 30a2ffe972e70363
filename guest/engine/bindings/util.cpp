#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "engine/bindings/env_file.hpp"
#include "engine/bindings/support.hpp"
#include "engine/isolate/guest.hpp"

namespace tare::engine {
namespace {

void get_promise_details(const Arguments& args) {
  if (!args[0]->IsPromise()) return;
  v8::Isolate* isolate = args.GetIsolate();
  const v8::Local<v8::Promise> promise = args[0].As<v8::Promise>();
  v8::Local<v8::Value> details[] = {v8::Integer::New(isolate, promise->State()), v8::Undefined(isolate)};
  const bool settled = promise->State() != v8::Promise::kPending;
  if (settled) details[1] = promise->Result();
  args.GetReturnValue().Set(v8::Array::New(isolate, details, settled ? 2 : 1));
}

void get_proxy_details(const Arguments& args) {
  if (!args[0]->IsProxy()) return;
  const v8::Local<v8::Proxy> proxy = args[0].As<v8::Proxy>();
  if (args.Length() > 1 && !args[1]->IsTrue()) {
    args.GetReturnValue().Set(proxy->GetTarget());
    return;
  }
  v8::Local<v8::Value> details[] = {proxy->GetTarget(), proxy->GetHandler()};
  args.GetReturnValue().Set(v8::Array::New(args.GetIsolate(), details, 2));
}

void preview_entries(const Arguments& args) {
  if (!args[0]->IsObject()) return;
  v8::Isolate* isolate = args.GetIsolate();
  bool pairs = false;
  v8::Local<v8::Array> entries;
  if (!args[0].As<v8::Object>()->PreviewEntries(&pairs).ToLocal(&entries)) return;
  if (args.Length() < 2) {
    args.GetReturnValue().Set(entries);
    return;
  }
  v8::Local<v8::Value> result[] = {entries, v8::Boolean::New(isolate, pairs)};
  args.GetReturnValue().Set(v8::Array::New(isolate, result, 2));
}

void get_own_non_index_properties(const Arguments& args) {
  if (!args[0]->IsObject()) return;
  const v8::Local<v8::Context> context = args.GetIsolate()->GetCurrentContext();
  const auto filter = static_cast<v8::PropertyFilter>(args[1]->Uint32Value(context).FromMaybe(0));
  v8::Local<v8::Array> names;
  if (args[0]
          .As<v8::Object>()
          ->GetPropertyNames(context, v8::KeyCollectionMode::kOwnOnly, filter, v8::IndexFilter::kSkipIndices)
          .ToLocal(&names)) {
    args.GetReturnValue().Set(names);
  }
}

void get_constructor_name(const Arguments& args) {
  if (args[0]->IsObject()) args.GetReturnValue().Set(args[0].As<v8::Object>()->GetConstructorName());
}

void get_external_value(const Arguments& args) {
  if (!args[0]->IsExternal()) return;
  const auto address = reinterpret_cast<std::uintptr_t>(args[0].As<v8::External>()->Value());
  args.GetReturnValue().Set(v8::BigInt::NewFromUnsigned(args.GetIsolate(), address));
}

v8::Local<v8::Object> call_site(v8::Isolate* isolate, v8::Local<v8::StackFrame> frame) {
  const auto or_empty = [&](v8::Local<v8::String> text) {
    return text.IsEmpty() ? v8::String::Empty(isolate) : text;
  };
  const v8::Local<v8::Value> column = v8::Integer::New(isolate, frame->GetColumn());
  v8::Local<v8::Name> names[] = {key(isolate, "functionName"), key(isolate, "scriptId"),
                                 key(isolate, "scriptName"),   key(isolate, "lineNumber"),
                                 key(isolate, "columnNumber"), key(isolate, "column")};
  v8::Local<v8::Value> values[] = {or_empty(frame->GetFunctionName()),
                                   to_v8(isolate, std::to_string(frame->GetScriptId())),
                                   or_empty(frame->GetScriptNameOrSourceURL()),
                                   v8::Integer::New(isolate, frame->GetLineNumber()),
                                   column,
                                   column};
  return v8::Object::New(isolate, v8::Null(isolate), names, values, std::size(names));
}

/// The frames above whoever asks: the first one is the asking function itself.
void get_call_sites(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const std::uint32_t count = args[0]->Uint32Value(isolate->GetCurrentContext()).FromMaybe(0);
  const v8::Local<v8::StackTrace> stack =
      v8::StackTrace::CurrentStackTrace(isolate, static_cast<int>(std::min(count, 200U)) + 1);
  std::vector<v8::Local<v8::Value>> sites;
  for (int i = 1; i < stack->GetFrameCount(); ++i)
    sites.push_back(call_site(isolate, stack->GetFrame(isolate, static_cast<std::uint32_t>(i))));
  args.GetReturnValue().Set(v8::Array::New(isolate, sites.data(), sites.size()));
}

void get_caller_location(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const v8::Local<v8::StackTrace> stack = v8::StackTrace::CurrentStackTrace(isolate, 2);
  if (stack->GetFrameCount() != 2) return;
  const v8::Local<v8::StackFrame> frame = stack->GetFrame(isolate, 1);
  const v8::Local<v8::String> file = frame->GetScriptNameOrSourceURL();
  if (file.IsEmpty()) return;
  v8::Local<v8::Value> location[] = {v8::Integer::New(isolate, frame->GetLineNumber()),
                                     v8::Integer::New(isolate, frame->GetColumn()), file};
  args.GetReturnValue().Set(v8::Array::New(isolate, location, 3));
}

/// Whether the nearest frame that isn't the library's own belongs to a package that was installed.
void is_inside_node_modules(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  int limit = 10;
  if (args[0]->IsInt32()) limit = std::clamp(args[0].As<v8::Int32>()->Value(), 1, 200);
  const v8::Local<v8::StackTrace> stack = v8::StackTrace::CurrentStackTrace(isolate, limit);
  for (int i = 0; i < stack->GetFrameCount(); ++i) {
    const v8::Local<v8::String> name =
        stack->GetFrame(isolate, static_cast<std::uint32_t>(i))->GetScriptName();
    if (name.IsEmpty() || name->Length() == 0) continue;
    const std::string file = to_string(isolate, name);
    if (file.starts_with("node:")) continue;
    args.GetReturnValue().Set(file.find("/node_modules/") != std::string::npos);
    return;
  }
  args.GetReturnValue().Set(false);
}

void parse_env_text(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const v8::Local<v8::Object> found = v8::Object::New(isolate);
  for (const auto& [name, value] : parse_env(to_string(isolate, args[0])))
    set(isolate, found, name, to_v8(isolate, value));
  args.GetReturnValue().Set(found);
}

void array_buffer_view_has_buffer(const Arguments& args) {
  args.GetReturnValue().Set(args[0]->IsArrayBufferView() && args[0].As<v8::ArrayBufferView>()->HasBuffer());
}

void construct_shared_array_buffer(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const std::int64_t size = args[0]->IntegerValue(isolate->GetCurrentContext()).FromMaybe(-1);
  std::unique_ptr<v8::BackingStore> store;
  if (size >= 0 && static_cast<std::uint64_t>(size) <= v8::TypedArray::kMaxByteLength) {
    store = v8::SharedArrayBuffer::NewBackingStore(isolate, static_cast<std::size_t>(size),
                                                   v8::BackingStoreInitializationMode::kZeroInitialized,
                                                   v8::BackingStoreOnFailureMode::kReturnNull);
  }
  if (store == nullptr) {
    throw_error(isolate, ErrorKind::range, "ERR_MEMORY_ALLOCATION_FAILED", "Failed to allocate memory");
    return;
  }
  args.GetReturnValue().Set(v8::SharedArrayBuffer::New(isolate, std::move(store)));
}

void mark_promise_as_handled(const Arguments& args) {
  if (args[0]->IsPromise()) args[0].As<v8::Promise>()->MarkAsHandled();
}

/// Sleeps where the process's blocking calls do, so that a kill ends it.
void sleep(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  Guest* guest = guest_of(isolate);
  if (guest == nullptr) return;
  const std::chrono::milliseconds time(args[0]->Uint32Value(isolate->GetCurrentContext()).FromMaybe(0));
  const Instant deadline = std::chrono::steady_clock::now() + time;
  kernel::Wait& wait = *guest->process().wait();
  while (!wait.interrupted() && std::chrono::steady_clock::now() < deadline)
    static_cast<void>(wait.block_until(wait.ticket(), deadline));
}

/// Where the global object keeps who makes lazy members: a snapshot takes no function along with a member.
v8::Local<v8::Private> lazy_maker(v8::Isolate* isolate) {
  return v8::Private::ForApi(isolate, key(isolate, "tare.lazyMaker"));
}

/// The value of a lazy member, by the id of the module that has it.
void make_lazy_value(v8::Local<v8::Name> name, const v8::PropertyCallbackInfo<v8::Value>& info) {
  v8::Isolate* isolate = info.GetIsolate();
  v8::Local<v8::Context> context;
  if (!info.Holder()->GetCreationContext(isolate).ToLocal(&context)) return;
  v8::Local<v8::Value> maker;
  v8::Local<v8::Value> value;
  v8::Local<v8::Value> arguments[] = {info.Data(), name};
  if (context->Global()->GetPrivate(context, lazy_maker(isolate)).ToLocal(&maker) && maker->IsFunction() &&
      maker.As<v8::Function>()->Call(context, v8::Undefined(isolate), 2, arguments).ToLocal(&value))
    info.GetReturnValue().Set(value);
}

void set_lazy_maker(const Arguments& args) {
  const v8::Local<v8::Context> context = args.GetIsolate()->GetCurrentContext();
  std::ignore = context->Global()->SetPrivate(context, lazy_maker(args.GetIsolate()), args[0]);
}

/// defineLazy(target, name, id, enumerable): a member that is made when somebody asks for it, and that is an
/// ordinary one for whoever looks at it.
void define_lazy(const Arguments& args) {
  if (!args[0]->IsObject() || !args[1]->IsName() || !args[2]->IsString()) return;
  const v8::PropertyAttribute attributes = args[3]->IsTrue() ? v8::None : v8::DontEnum;
  std::ignore = args[0].As<v8::Object>()->SetLazyDataProperty(
      args.GetIsolate()->GetCurrentContext(), args[1].As<v8::Name>(), make_lazy_value, args[2], attributes);
}

constexpr Native util_natives[] = {
    {"getPromiseDetails", get_promise_details},
    {"getProxyDetails", get_proxy_details},
    {"previewEntries", preview_entries},
    {"getOwnNonIndexProperties", get_own_non_index_properties},
    {"getConstructorName", get_constructor_name},
    {"getExternalValue", get_external_value},
    {"getCallSites", get_call_sites},
    {"getCallerLocation", get_caller_location},
    {"isInsideNodeModules", is_inside_node_modules},
    {"sleep", sleep},
    {"parseEnv", parse_env_text},
    {"arrayBufferViewHasBuffer", array_buffer_view_has_buffer},
    {"constructSharedArrayBuffer", construct_shared_array_buffer},
    {"markPromiseAsHandled", mark_promise_as_handled},
    {"setLazyMaker", set_lazy_maker},
    {"defineLazy", define_lazy},
};

const std::vector<std::intptr_t> util_references{reinterpret_cast<std::intptr_t>(make_lazy_value)};

}  // namespace

extern const Binding util_binding;
const Binding util_binding{"util", util_natives, nullptr, util_references};

}  // namespace tare::engine
