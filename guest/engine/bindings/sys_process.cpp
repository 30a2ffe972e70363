// `host.sys`, part: processes: this one, its children, signals.

#include <algorithm>
#include <array>
#include <csignal>

#include "engine/bindings/sys_spawn.hpp"
#include "engine/kernel/trace.hpp"

namespace tare::engine::sys {

using v8::Local;
using v8::Value;

namespace {

std::vector<std::string> list(v8::Isolate* isolate, Local<Value> value) {
  std::vector<std::string> texts;
  if (!value->IsArray()) return texts;
  const Local<v8::Array> array = value.As<v8::Array>();
  // Even of empty ones so many are too much for a process (E2BIG).
  constexpr std::uint32_t most = (2 << 20) + 1;
  for (std::uint32_t i = 0; i < std::min(array->Length(), most); ++i) {
    Local<Value> one;
    if (array->Get(isolate->GetCurrentContext(), i).ToLocal(&one)) texts.push_back(bytes(isolate, one));
  }
  return texts;
}

kernel::Process::Environment environment(const std::vector<std::string>& pairs) {
  kernel::Process::Environment result;
  for (const std::string& pair : pairs) {
    const std::size_t at = pair.find('=', 1);
    if (at != std::string::npos) result.insert_or_assign(pair.substr(0, at), pair.substr(at + 1));
  }
  return result;
}

}  // namespace

kernel::SpawnRequest spawn_request(Guest& guest, const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  kernel::SpawnRequest request;
  request.file = bytes(args, 0);
  request.argv = list(isolate, args[1]);
  if (request.argv.empty()) request.argv.push_back(request.file);
  if (args[2]->IsString() || args[2]->IsUint8Array()) request.cwd = bytes(args, 2);
  request.env = args[3]->IsArray() ? environment(list(isolate, args[3])) : guest.process().env();
  return request;
}

kernel::Result<void> reap(kernel::Process& parent, int pid) {
  const auto reaped = parent.vm()->processes().wait(parent, pid, kernel::ProcessTable::Block::no);
  if (!reaped.ok()) return kernel::Errno{reaped.error()};
  return {};
}

namespace {

void tell_exit(Guest& guest, int pid, const kernel::Exit& exit) {
  (void)reap(guest.process(), pid);
  v8::Isolate* isolate = guest.realm().isolate();
  const Ended end = ended(exit);
  std::array<Local<Value>, 3> arguments{v8::Integer::New(isolate, pid), v8::Integer::New(isolate, end.code),
                                        v8::Integer::New(isolate, end.signal)};
  (void)guest.realm().call("childExit", arguments);
}

/// A number is a descriptor of the parent, -1 is /dev/null, -2 is closed.
std::vector<kernel::StdioEntry> stdio(v8::Isolate* isolate, Local<Value> value) {
  using Kind = kernel::StdioEntry::Kind;
  std::vector<kernel::StdioEntry> entries;
  if (!value->IsArray()) return entries;
  const Local<v8::Array> array = value.As<v8::Array>();
  constexpr std::uint32_t most = (1 << 20) + 1;  // more than a process may have (EMFILE)
  for (std::uint32_t i = 0; i < std::min(array->Length(), most); ++i) {
    Local<Value> one;
    if (!array->Get(isolate->GetCurrentContext(), i).ToLocal(&one) || !one->IsInt32()) continue;
    const int fd = one.As<v8::Int32>()->Value();
    entries.push_back({fd >= 0 ? Kind::inherit : fd == -1 ? Kind::ignore : Kind::closed, fd, nullptr});
  }
  return entries;
}

/// spawn(file, args, cwd, env, stdio) → pid; callbacks.childExit(pid, code or -1, signal or 0) comes later.
std::int64_t spawn(Guest& guest, const Arguments& args) {
  const kernel::Stopwatch whole(guest.process().vm()->trace());
  kernel::SpawnRequest request = spawn_request(guest, args);
  request.stdio = stdio(args.GetIsolate(), args[4]);
  // What is posted runs only while the guest's loop does, hence while the guest is there.
  request.on_exit = [port = guest.loop().port(), &guest](int pid, const kernel::Exit& exit) {
    port->post([&guest, pid, exit] { tell_exit(guest, pid, exit); });
  };
  const auto child = guest.process().vm()->processes().create(guest.shared_process(), std::move(request));
  if (!child.ok()) return -child.error();
  whole.record(kernel::Stage::child_process_spawn_total);
  return (*child)->pid();
}

/// kill(pid, signal): no process groups, so nothing but a pid is found.
std::int64_t kill(Guest& guest, const Arguments& args) {
  const auto pid = static_cast<int>(integer(args, 0));
  const auto signal = static_cast<int>(integer(args, 1));
  if (pid == 0) return code(guest.process().signal(signal));
  return code(guest.process().vm()->processes().kill(pid, signal));
}

/// Tells the loop that a signal is pending, or that a child has ended.
class SignalWaker final : public kernel::Waker {
 public:
  explicit SignalWaker(Guest& guest) : port_(guest.loop().port()), guest_(guest) {}
  void wake() override {
    port_->post([&guest = guest_] {
      v8::Isolate* isolate = guest.realm().isolate();
      while (const std::optional<int> signal = guest.process().take_signal()) {
        const v8::HandleScope scope(isolate);
        std::array<Local<Value>, 1> arguments{v8::Integer::New(isolate, *signal)};
        (void)guest.realm().call("signal", arguments);
        if (guest.ending()) return;
      }
    });
  }

 private:
  const std::shared_ptr<Loop::Port> port_;
  Guest& guest_;  // there when the posted work runs
};

/// handleSignal(signal, handled?): callbacks.signal(signal) comes for each.
std::int64_t handle_signal(Guest& guest, const Arguments& args) {
  using Disposition = kernel::Process::Disposition;
  kernel::Process& process = guest.process();
  const Disposition disposition = args[1]->IsTrue() ? Disposition::handled : Disposition::standard;
  if (disposition == Disposition::handled) process.set_signal_waker(std::make_shared<SignalWaker>(guest));
  return code(process.set_disposition(static_cast<int>(integer(args, 0)), disposition));
}

void cwd(Guest& guest, const Arguments& args) {
  args.GetReturnValue().Set(encode(args.GetIsolate(), guest.process().cwd(), As::text));
}

std::int64_t chdir(Guest& guest, const Arguments& args) {
  return code(guest.process().change_directory(bytes(args, 0)));
}

/// umask(mask or undefined) → the one before
std::int64_t umask(Guest& guest, const Arguments& args) {
  kernel::Process& process = guest.process();
  if (!args[0]->IsNumber()) return process.umask();
  return process.set_umask(static_cast<std::uint32_t>(integer(args, 0)) & 0777);
}

std::int64_t parent(Guest& guest, const Arguments&) {
  return guest.process().ppid();
}

std::int64_t pid(Guest& guest, const Arguments&) {
  return guest.process().pid();
}

std::int64_t exit(Guest& guest, const Arguments& args) {
  guest.exit(static_cast<int>(integer(args, 0)));
  return 0;
}

std::int64_t set_title(Guest& guest, const Arguments& args) {
  guest.process().set_title(bytes(args, 0));
  return 0;
}

/// abort(): the end by SIGABRT
std::int64_t abort(Guest& guest, const Arguments&) {
  return code(guest.process().signal(SIGABRT));
}

const Native sys_process_natives[] = {
    {"spawn", number_call<spawn>},
    {"kill", number_call<kill>},
    {"handleSignal", number_call<handle_signal>},
    {"cwd", any_call<cwd>},
    {"chdir", number_call<chdir>},
    {"umask", number_call<umask>},
    {"pid", number_call<pid>},
    {"ppid", number_call<parent>},
    {"exit", number_call<exit>},
    {"setTitle", number_call<set_title>},
    {"abort", number_call<abort>},
};

}  // namespace

std::span<const Native> process_natives() {
  return sys_process_natives;
}

}  // namespace tare::engine::sys
