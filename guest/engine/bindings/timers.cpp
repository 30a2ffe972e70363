// The bindings `timers`, `task_queue` and `async_context_frame`, and `loop` for the glue: what reaches the
// event loop.

#include "engine/isolate/guest.hpp"
#include "engine/isolate/native.hpp"

namespace tare::engine {
namespace {

using v8::Local;

Loop* loop_of(const Arguments& args) {
  Guest* guest = guest_of(args.GetIsolate());
  return guest == nullptr ? nullptr : &guest->loop();
}

void get_libuv_now(const Arguments& args) {
  const Loop* loop = loop_of(args);
  args.GetReturnValue().Set(loop == nullptr ? 0.0 : static_cast<double>(loop->now_ms()));
}

void schedule_timer(const Arguments& args) {
  Loop* loop = loop_of(args);
  if (loop != nullptr) loop->schedule_timer(static_cast<std::int64_t>(args[0].As<v8::Number>()->Value()));
}

void toggle_timer_ref(const Arguments& args) {
  Loop* loop = loop_of(args);
  if (loop != nullptr) loop->count_timer(args[0]->IsTrue());
}

void toggle_immediate_ref(const Arguments& args) {
  Loop* loop = loop_of(args);
  if (loop != nullptr) loop->count_immediate(args[0]->IsTrue());
}

const Native timer_natives[] = {
    {"getLibuvNow", get_libuv_now},
    {"scheduleTimer", schedule_timer},
    {"toggleTimerRef", toggle_timer_ref},
    {"toggleImmediateRef", toggle_immediate_ref},
};

void run_microtasks(const Arguments& args) {
  args.GetIsolate()->PerformMicrotaskCheckpoint();
}

void enqueue_microtask(const Arguments& args) {
  args.GetIsolate()->EnqueueMicrotask(args[0].As<v8::Function>());
}

const Native task_natives[] = {{"runMicrotasks", run_microtasks}, {"enqueueMicrotask", enqueue_microtask}};

void get_frame(const Arguments& args) {
  args.GetReturnValue().Set(args.GetIsolate()->GetContinuationPreservedEmbedderData());
}

void set_frame(const Arguments& args) {
  args.GetIsolate()->SetContinuationPreservedEmbedderData(args[0]);
}

const Native frame_natives[] = {{"getContinuationPreservedEmbedderData", get_frame},
                                {"setContinuationPreservedEmbedderData", set_frame}};

/// pending(): callbacks.drain is to be called in the next turn.
void pending(const Arguments& args) {
  Loop* loop = loop_of(args);
  if (loop != nullptr) loop->set_pending();
}

/// count(delta): requests in flight that keep the process alive.
void count(const Arguments& args) {
  Loop* loop = loop_of(args);
  if (loop != nullptr) loop->count(args[0].As<v8::Int32>()->Value());
}

const Native loop_natives[] = {{"pending", pending}, {"count", count}};

/// triggerUncaughtException(error, fromPromise)
void trigger(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  // Where it was thrown is known only for errors that V8 has seen thrown.
  const Local<v8::Message> message = v8::Exception::CreateMessage(isolate, args[0]);
  trigger_uncaught(isolate, args[0], message, args[1]->IsTrue() ? Thrower::promise : Thrower::program);
}

const Native uncaught_natives[] = {{"triggerUncaughtException", trigger}};

}  // namespace

extern const Binding timers_binding{"timers", timer_natives};
extern const Binding task_queue_binding{"task_queue", task_natives};
extern const Binding async_context_frame_binding{"async_context_frame", frame_natives};
extern const Binding loop_binding{"loop", loop_natives};
extern const Binding uncaught_binding{"uncaught", uncaught_natives};

}  // namespace tare::engine
