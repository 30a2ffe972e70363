#include "engine/isolate/guest.hpp"

#include <array>
#include <utility>
#include <vector>

#include "engine/isolate/assignment.hpp"
#include "engine/isolate/native.hpp"
#include "engine/kernel/trace.hpp"
#include "engine/kernel/vm.hpp"

namespace tare::engine {

using v8::HandleScope;
using v8::Local;
using v8::Value;

namespace {

constexpr std::uint32_t guest_slot = 1;  // 0 is Node's habit

Local<v8::Array> strings(v8::Isolate* isolate, const std::vector<std::string>& texts) {
  std::vector<Local<Value>> values;
  values.reserve(texts.size());
  for (const std::string& text : texts) values.push_back(to_v8(isolate, text));
  return v8::Array::New(isolate, values.data(), values.size());
}

Local<v8::Array> pairs(v8::Isolate* isolate, const kernel::Process::Environment& environment) {
  std::vector<Local<Value>> values;
  values.reserve(environment.size() * 2);
  for (const auto& [name, value] : environment) {
    values.push_back(key(isolate, name));
    values.push_back(to_v8(isolate, value));
  }
  return v8::Array::New(isolate, values.data(), values.size());
}

}  // namespace

Guest* guest_of(v8::Isolate* isolate) {
  return static_cast<Guest*>(isolate->GetData(guest_slot));
}

Guest::Guest(IsolateOwner& isolate, Realm& realm, std::shared_ptr<kernel::Process> process,
             std::function<void()> killed)
    : isolate_(isolate),
      realm_(realm),
      process_(std::move(process)),
      objects_(realm.isolate()),
      loop_(realm, process_->wait(), isolate.tasks(), process_->vm()->trace()),
      jobs_(loop_, process_),
      receive_room_(isolate.shared_buffers()) {
  ::getrusage(RUSAGE_THREAD, &used_before_);
  realm_.isolate()->SetData(guest_slot, this);
  process_->on_kill([isolate = realm_.isolate(), killed = std::move(killed)](int) {
    isolate->TerminateExecution();
    killed();
  });
}

Guest::~Guest() {
  process_->on_kill(nullptr);
  realm_.isolate()->SetData(guest_slot, nullptr);
}

void Guest::exit(int code) {
  if (!exit_code_) exit_code_ = code;
  realm_.isolate()->TerminateExecution();
}

void Guest::attach() {
  v8::Isolate* isolate = realm_.isolate();
  std::array<Local<Value>, 4> arguments{strings(isolate, process_->argv()), pairs(isolate, process_->env()),
                                        v8::Undefined(isolate), v8::False(isolate)};
  const Assignment* assignment = assignment_of(*process_);
  const ContextSetup* context = assignment == nullptr ? nullptr : assignment->context();
  if (context != nullptr && context->bootstrap) arguments[2] = to_v8(isolate, *context->bootstrap);
  if (context != nullptr && context->folder != nullptr) arguments[3] = v8::True(isolate);
  (void)realm_.call_bare("attach", arguments);
}

kernel::Exit Guest::run() {
  const kernel::Stopwatch attaching(process_->vm()->trace());
  attach();
  attaching.record(kernel::Stage::js_start_attach);
  const kernel::Stopwatch starting(process_->vm()->trace());
  (void)realm_.call("start");
  starting.record(kernel::Stage::js_start_main);
  spin();
  int code = 0;
  Local<Value> result;
  if (!ending() && realm_.call_bare("exit").ToLocal(&result) && result->IsInt32())
    code = result.As<v8::Int32>()->Value();
  // Only the thread that waits knows of a kill; post_exit() puts its signal in place of this.
  return kernel::Exit::with_code(exit_code_.value_or(code));
}

void Guest::spin() {
  do {
    while (loop_.alive() && !ending()) loop_.turn(Loop::Sleep::yes);
    if (ending()) return;
    isolate_.tasks().run_some();
    const HandleScope scope(realm_.isolate());
    (void)realm_.call("beforeExit");
  } while (loop_.alive() && !ending());
}

}  // namespace tare::engine
