#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "engine/isolate/compile.hpp"
#include "engine/isolate/isolate.hpp"
#include "engine/isolate/native.hpp"
#include "engine/isolate/realm.hpp"
#include "engine/modules/state.hpp"
#include "engine/modules/vm_context.hpp"

namespace tare::engine {
namespace {

using v8::Local;
using v8::Value;

std::string describe(v8::Isolate* isolate, Local<v8::Context> context, const v8::TryCatch& caught) {
  Local<Value> stack;
  if (caught.StackTrace(context).ToLocal(&stack) && stack->IsString()) return to_string(isolate, stack);
  return to_string(isolate, caught.Exception());
}

/// Runs tare/boot, which hands its callbacks to kit.ready; they are the one datum of the context.
void boot(v8::SnapshotCreator& creator, v8::Isolate* isolate, guest::Library library) {
  const v8::HandleScope scope(isolate);
  const Local<v8::Context> context = v8::Context::New(isolate);
  const v8::Context::Scope inside(context);
  const v8::TryCatch caught(isolate);
  const PackText* text = engine().pack->find("tare/boot");
  if (text == nullptr)
    throw Error(ErrorCode::failed, "cannot make the guest's snapshot", "its library has no boot code");
  const Local<v8::Object> kit = make_kit(isolate, context);
  kit->Set(context, key(isolate, "library"), to_v8(isolate, boost::describe::enum_to_string(library, "")))
      .Check();
  Local<v8::Function> function;
  Local<Value> arguments[] = {kit};
  Local<Value> callbacks;
  const bool ran = compile_text(context, *text, "boot").ToLocal(&function) &&
                   !function->Call(context, v8::Undefined(isolate), 1, arguments).IsEmpty() &&
                   kit->Get(context, key(isolate, "callbacks")).ToLocal(&callbacks) && callbacks->IsObject();
  if (!ran) {
    throw Error(ErrorCode::failed, "cannot make the guest's snapshot",
                caught.HasCaught() ? describe(isolate, context, caught) : "its boot code made no callbacks");
  }
  isolate->PerformMicrotaskCheckpoint();
  // Modules of the rehearsal: V8 can't write any.
  set_module_state(context, ModuleSlot::wraps, v8::Map::New(isolate));
  creator.AddData(context, callbacks.As<v8::Object>());
  creator.SetDefaultContext(context);
  creator.AddContext(make_vm_context_model(isolate));
}

/// Puts what an isolate was made of into the snapshot that it writes.
void copy(v8::SnapshotCreator& creator, v8::Isolate* isolate) {
  const v8::HandleScope scope(isolate);
  const Local<v8::Context> context = v8::Context::New(isolate);
  creator.AddData(context, context->GetDataFromSnapshotOnce<v8::Object>(0).ToLocalChecked());
  creator.SetDefaultContext(context);
  creator.AddContext(v8::Context::FromSnapshot(isolate, vm_context_index).ToLocalChecked());
}

/// What V8 looks at first in a snapshot.
struct Head {
  std::uint32_t contexts;
  std::uint32_t rehashable;  ///< whether hashes can be computed again, which is done then
  std::uint32_t checksum;    ///< of all that follows the head; is not looked at
  std::uint32_t shared;      ///< a sum over what all isolates of a process have in common, hashes included
};

/// Makes `blob`, which was written by an isolate of `old`, one whose hashes are taken as they are. Code that
/// V8 has made with the old one is as good with the new one, but for the sum. False where either does not
/// begin as is known.
bool keep_hashes(std::string& blob, const v8::StartupData& old) {
  Head head{};
  Head old_head{};
  if (blob.size() < sizeof head || static_cast<std::size_t>(old.raw_size) < sizeof head) return false;
  std::memcpy(&head, blob.data(), sizeof head);
  std::memcpy(&old_head, old.data, sizeof head);
  for (const Head& one : {head, old_head}) {
    if (one.contexts != 2 || one.rehashable != 1) return false;
  }
  head.rehashable = 0;
  head.shared = old_head.shared;
  std::memcpy(blob.data(), &head, sizeof head);
  return true;
}

/// A snapshot of an isolate that is made of another one, or of nothing, and filled.
template <class Fill>
std::string write(const v8::StartupData* from, const Fill& fill) {
  constexpr std::uint64_t plenty = std::uint64_t{512} << 20;
  Buffers buffers(plenty);
  Delegate delegate;
  v8::Isolate* isolate = v8::Isolate::Allocate();
  engine().platform->RegisterIsolate(isolate, &delegate);
  std::string blob;
  {
    v8::Isolate::CreateParams params;
    params.external_references = engine().references.data();
    params.array_buffer_allocator = &buffers;
    params.snapshot_blob = from;
    v8::SnapshotCreator creator(isolate, params);
    isolate->SetMicrotasksPolicy(v8::MicrotasksPolicy::kExplicit);
    fill(creator, isolate);
    const v8::StartupData data = creator.CreateBlob(v8::SnapshotCreator::FunctionCodeHandling::kKeep);
    blob.assign(data.data, static_cast<std::size_t>(data.raw_size));
    delete[] data.data;
  }
  delegate.tasks().clear();
  engine().platform->DisposeIsolate(isolate);
  return blob;
}

}  // namespace

std::string build_snapshot(guest::Library library) {
  std::string blob;
  std::thread([&] {
    blob = write(nullptr, [library](v8::SnapshotCreator& creator, v8::Isolate* isolate) {
      try {
        boot(creator, isolate, library);
      } catch (const Error& error) {
        // A creator can't be destroyed without its blob: the process, which has nothing else to do, ends
        // here.
        fmt::print(stderr, "{}\n", error.line());
        std::fflush(stderr);
        ::_exit(error.exit_code());
      }
    });
  }).join();
  return blob;
}

namespace {

std::atomic<bool> adopted{false};

}  // namespace

void adopt_snapshot() {
  static std::string blob;
  static v8::StartupData data;
  const v8::StartupData* const old = engine().snapshot;
  blob = write(old, copy);
  if (!keep_hashes(blob, *old)) return;
  data = {blob.data(), static_cast<int>(blob.size())};
  engine().snapshot = &data;
  adopted = true;
}

bool has_adopted_snapshot() {
  return adopted;
}

}  // namespace tare::engine
