// `host.sys`, part: spawnSync. The guest's thread sleeps until its child has ended; meanwhile it moves the
// bytes of the child's standard streams.

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <mutex>
#include <vector>

#include "engine/bindings/sys_spawn.hpp"
#include "engine/kernel/pipe.hpp"
#include "engine/kernel/trace.hpp"

namespace tare::engine::sys {
namespace {

using kernel::Description;
using v8::Local;
using v8::Value;

/// The parent's end of one standard stream.
struct Channel {
  std::shared_ptr<Description> end;
  std::string input;
  std::size_t sent = 0;
  bool sending = false;    ///< what is left of the input goes out
  bool receiving = false;  ///< the end has not been read yet
  bool collects = false;   ///< its output is part of the result
  std::string output;
};

/// How the child ended, told by its last thread.
struct Ending {
  std::mutex mutex;
  std::optional<kernel::Exit> exit;
};

struct Limits {
  std::optional<Instant> deadline;
  std::optional<std::size_t> output;
  int kill_signal = SIGTERM;
};

class SyncProcess {
 public:
  SyncProcess(Guest& guest, Limits limits) : process_(guest.process()), guest_(guest), limits_(limits) {}
  ~SyncProcess() { close_channels(); }
  SyncProcess(const SyncProcess&) = delete;
  SyncProcess& operator=(const SyncProcess&) = delete;

  std::vector<Channel>& channels() { return channels_; }

  /// The errno of starting.
  int start(kernel::SpawnRequest request) {
    request.on_exit = [ending = ending_, wait = process_.wait()](int, const kernel::Exit& exit) {
      {
        const std::lock_guard lock(ending->mutex);
        ending->exit = exit;
      }
      wait->wake();
    };
    auto child = process_.vm()->processes().create(guest_.shared_process(), std::move(request));
    if (!child.ok()) return child.error();
    pid_ = (*child)->pid();
    for (Channel& channel : channels_) {
      if (channel.end == nullptr) continue;
      channel.end->watch(process_.wait(), Description::Direction::read);
      channel.end->watch(process_.wait(), Description::Direction::write);
    }
    return 0;
  }

  /// Until the child has ended and its output is read; nothing when the guest itself was killed meanwhile.
  std::optional<kernel::Exit> run() {
    for (;;) {
      const kernel::Wait::Ticket ticket = process_.wait()->ticket();
      const std::optional<kernel::Exit> exit = ended();
      if (move() && !exit) continue;
      if (exit && !receiving()) {
        (void)reap(process_, pid_);
        return exit;
      }
      const auto slept = limits_.deadline && !killed_
                             ? process_.wait()->block_until(ticket, *limits_.deadline)
                             : process_.wait()->block(ticket);
      if (slept.error() == EINTR) return std::nullopt;
      if (slept.error() == ETIMEDOUT) end_child(ETIMEDOUT);
    }
  }

  int pid() const { return pid_; }
  /// The errno of the run, as Node reports it: what ended it, before what went wrong in a stream.
  int error() const { return error_ != 0 ? error_ : stream_error_; }

 private:
  std::optional<kernel::Exit> ended() const {
    const std::lock_guard lock(ending_->mutex);
    return ending_->exit;
  }

  bool receiving() const {
    return std::ranges::any_of(channels_,
                               [](const Channel& one) { return one.end != nullptr && one.receiving; });
  }

  /// Whether any byte went anywhere.
  bool move() {
    bool moved = false;
    for (Channel& channel : channels_) {
      if (channel.end != nullptr && channel.sending) moved = send(channel) || moved;
      if (channel.end != nullptr && channel.receiving) moved = receive(channel) || moved;
    }
    return moved;
  }

  bool send(Channel& channel) {
    bool moved = false;
    while (channel.sent < channel.input.size()) {
      const auto left = std::as_bytes(std::span(channel.input)).subspan(channel.sent);
      const auto written = channel.end->write(left);
      if (!written.ok()) {
        if (written.error() == EAGAIN) return moved;
        if (stream_error_ == 0) stream_error_ = written.error();
        break;
      }
      channel.sent += *written;
      moved = true;
    }
    channel.sending = false;
    (void)kernel::shutdown_write(*channel.end);
    return moved;
  }

  bool receive(Channel& channel) {
    bool moved = false;
    std::array<std::byte, 64 << 10> room;
    for (;;) {
      const auto got = channel.end->read(room);
      if (!got.ok() && got.error() == EAGAIN) return moved;
      if (!got.ok() || *got == 0) {
        channel.receiving = false;
        return true;
      }
      moved = true;
      if (channel.collects) channel.output.append(reinterpret_cast<const char*>(room.data()), *got);
      collected_ += *got;
      if (limits_.output && collected_ > *limits_.output) {
        end_child(ENOBUFS);
        return true;
      }
    }
  }

  /// Node's way: the signal, and no more bytes from then on.
  void end_child(int why) {
    if (killed_) return;
    killed_ = true;
    if (error_ == 0) error_ = why;
    const auto sent = process_.vm()->processes().kill(pid_, limits_.kill_signal);
    if (!sent.ok() && sent.error() != ESRCH) (void)process_.vm()->processes().kill(pid_, SIGKILL);
    close_channels();
  }

  void close_channels() {
    for (Channel& channel : channels_) {
      if (channel.end != nullptr && pid_ != 0) {
        channel.end->unwatch(process_.wait(), Description::Direction::read);
        channel.end->unwatch(process_.wait(), Description::Direction::write);
      }
      channel.end.reset();
    }
  }

  kernel::Process& process_;
  Guest& guest_;
  const Limits limits_;
  std::vector<Channel> channels_;
  const std::shared_ptr<Ending> ending_ = std::make_shared<Ending>();
  int pid_ = 0;
  int error_ = 0;
  int stream_error_ = 0;
  bool killed_ = false;
  std::size_t collected_ = 0;
};

Local<Value> member(v8::Isolate* isolate, Local<Value> object, const char* name) {
  Local<Value> value;
  if (object.As<v8::Object>()->Get(isolate->GetCurrentContext(), key(isolate, name)).ToLocal(&value))
    return value;
  return v8::Undefined(isolate);
}

/// One entry of stdio: a number as for spawn, or {readable, writable, input}: what the child does with the
/// stream.
kernel::StdioEntry entry(Guest& guest, Local<Value> one, Channel& channel) {
  using Kind = kernel::StdioEntry::Kind;
  v8::Isolate* isolate = guest.realm().isolate();
  if (one->IsInt32()) {
    const int fd = one.As<v8::Int32>()->Value();
    return {fd >= 0 ? Kind::inherit : fd == -1 ? Kind::ignore : Kind::closed, fd, nullptr};
  }
  if (!one->IsObject()) return {Kind::ignore, -1, nullptr};
  kernel::DuplexEnds ends = kernel::make_duplex(guest.process().vm()->shared_counters());
  channel.end = std::move(ends.first);
  channel.input = bytes(isolate, member(isolate, one, "input"));
  channel.sending = true;
  channel.receiving = channel.collects = member(isolate, one, "writable")->IsTrue();
  return {Kind::description, -1, std::move(ends.second)};
}

void fill(Guest& guest, Local<Value> list, SyncProcess& process, kernel::SpawnRequest& request) {
  if (!list->IsArray()) return;
  const Local<v8::Array> array = list.As<v8::Array>();
  // One more than a process may have is refused (EMFILE), and so are all beyond.
  const std::uint32_t most = guest.process().vm()->limits().open_files + 1;
  const std::uint32_t count = std::min(array->Length(), most);
  process.channels().resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Local<Value> one;
    if (!array->Get(guest.realm().context(), i).ToLocal(&one)) continue;
    request.stdio.push_back(entry(guest, one, process.channels()[i]));
  }
}

Limits limits(const Arguments& args) {
  Limits result;
  const std::int64_t timeout_ms = integer(args, 5);
  if (timeout_ms > 0)
    result.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  if (args[6]->IsNumber()) {
    const double most = args[6].As<v8::Number>()->Value();
    if (most >= 0 && most < 9e15) result.output = static_cast<std::size_t>(most);
  }
  const std::int64_t signal = integer(args, 7);
  if (signal > 0) result.kill_signal = static_cast<int>(signal);
  return result;
}

Local<Value> outputs(v8::Isolate* isolate, const std::vector<Channel>& channels) {
  std::vector<Local<Value>> values;
  for (const Channel& channel : channels)
    values.push_back(channel.collects ? encode(isolate, channel.output, As::bytes)
                                      : v8::Null(isolate).As<Value>());
  return v8::Array::New(isolate, values.data(), values.size());
}

/// spawnSync(file, args, cwd, env, stdio, timeout ms, most bytes of output, signal) → [pid, code or -1,
/// signal or 0, errno or 0, outputs]; -errno when it did not start
void spawn_sync(Guest& guest, const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const kernel::Stopwatch whole(guest.process().vm()->trace());
  SyncProcess process(guest, limits(args));
  kernel::SpawnRequest request = spawn_request(guest, args);
  fill(guest, args[4], process, request);
  const int refused = process.start(std::move(request));
  if (refused != 0) return give(args, -refused);
  whole.record(kernel::Stage::child_process_spawn_total);
  const std::optional<kernel::Exit> exit = process.run();
  if (!exit) return give(args, -EINTR);
  const Ended end = ended(*exit);
  Local<Value> result[] = {v8::Integer::New(isolate, process.pid()), v8::Integer::New(isolate, end.code),
                           v8::Integer::New(isolate, end.signal), v8::Integer::New(isolate, -process.error()),
                           outputs(isolate, process.channels())};
  args.GetReturnValue().Set(v8::Array::New(isolate, result, std::size(result)));
}

const Native sys_spawn_sync_natives[] = {{"spawnSync", any_call<spawn_sync>}};

}  // namespace

std::span<const Native> spawn_sync_natives() {
  return sys_spawn_sync_natives;
}

}  // namespace tare::engine::sys
