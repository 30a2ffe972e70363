#include "engine/serve/server.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <node_version.h>
#include <string>
#include <utility>
#include <v8.h>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "engine/isolate/assignment.hpp"
#include "engine/isolate/containment.hpp"
#include "engine/isolate/heap_pages.hpp"
#include "engine/isolate/isolate.hpp"
#include "engine/isolate/pool.hpp"
#include "engine/isolate/profiles.hpp"
#include "engine/isolate/workers.hpp"
#include "engine/kernel/host_folder.hpp"
#include "engine/kernel/trace.hpp"
#include "engine/kernel/vm.hpp"
#include "engine/serve/seccomp.hpp"
#include "engine/serve/stages.hpp"
#include "engine/serve/stdio_socket.hpp"
#include "protocol/frame.hpp"
#include "protocol/socket.hpp"

namespace tare::engine {
namespace {

using guest::Kind;

/// Frames to the client, from whichever thread has something to say.
class Sender {
 public:
  template <class T>
  void send(Kind kind, std::uint32_t id, const T& message) {
    send_frame(guest::encode(kind, id, json::line(message)), [] {});
  }

  /// `in_turn` is called when nothing stands before the frame any more.
  template <class InTurn>
  void send_frame(const std::string& frame, const InTurn& in_turn) {
    const std::lock_guard lock(mutex_);
    in_turn();
    // A client that is gone is seen by the reader, which ends the process.
    guest::send_all(guest::control_fd, frame);
  }

 private:
  std::mutex mutex_;
};

/// A virtual machine, and what its processes get when the client says nothing.
struct Machine {
  std::shared_ptr<kernel::Vm> vm;
  std::map<std::string, std::string> env;
  std::string cwd;
  std::map<std::uint32_t, std::shared_ptr<const ContextSetup>> contexts = {};
};

kernel::Permission permission(guest::Access access) {
  return access == guest::Access::allow ? kernel::Permission::allow : kernel::Permission::deny;
}

kernel::Vm::Options options_of(const guest::CreateVm& message) {
  kernel::Limits limits;
  const guest::Limits& asked = message.limits;
  const auto ms = [](std::uint64_t value) { return std::chrono::milliseconds(value); };
  if (asked.processes)
    limits.processes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(*asked.processes, kernel::max_processes));
  if (asked.open_files)
    limits.open_files = static_cast<std::uint32_t>(std::min<std::uint64_t>(*asked.open_files, 1 << 20));
  if (asked.file_bytes) limits.file_bytes = *asked.file_bytes;
  if (asked.inodes) limits.inodes = *asked.inodes;
  if (asked.memory_bytes) limits.heap_bytes = *asked.memory_bytes;
  if (asked.array_buffer_bytes) limits.array_buffer_bytes = *asked.array_buffer_bytes;
  limits.output_bytes = asked.output_bytes;
  if (asked.wall_ms) limits.run_time = ms(*asked.wall_ms);
  if (asked.cpu_ms) limits.cpu_time = ms(*asked.cpu_ms);
  const guest::Permissions& may = message.permissions;
  return {limits,
          {permission(may.fs), permission(may.network), permission(may.child_process), permission(may.env)},
          {}};
}

guest::Reply refusal(std::string why) {
  guest::Reply reply;
  reply.error = std::move(why);
  return reply;
}

/// Whether this is one of the protocol's reasons, and no text for people.
bool is_name(std::string_view reason) {
  using namespace guest::reason;
  for (const std::string_view name : {memory, array_buffer, cpu_time, wall_time, output, killed, crashed}) {
    if (reason == name) return true;
  }
  return false;
}

kernel::Result<void> add_mount(kernel::FileSystem& files, const guest::Mount& mount) {
  using Access = kernel::FileSystem::MountAccess;
  if (!mount.guest.starts_with('/')) return kernel::Errno{EINVAL};
  auto folder = kernel::HostFolder::open(mount.host);
  if (!folder.ok()) return folder.failure();
  return files.mount(mount.guest, *std::move(folder),
                     mount.access == guest::MountAccess::rw ? Access::write : Access::read);
}

std::vector<std::string> problems_of(kernel::Synced synced) {
  if (synced.more_problems > 0) synced.problems.push_back(fmt::format("and {} more", synced.more_problems));
  return std::move(synced.problems);
}

guest::Exited exited(const kernel::Exit& exit, const kernel::Process& process) {
  guest::Exited message;
  message.code = exit.code;
  if (exit.signal) message.signal = guest::signal_name(*exit.signal);
  if (is_name(exit.reason)) {
    message.reason = exit.reason;
  } else if (!exit.reason.empty()) {
    message.reason = guest::reason::killed;
    message.detail = exit.reason;
  }
  if (const auto cpu = process.cpu_time()) {
    message.cpu_ns = static_cast<std::uint64_t>(cpu->count());
    if (const Assignment* assignment = assignment_of(process); assignment != nullptr) {
      message.code_cache = assignment->code_use();
      message.pooled = assignment->pooled();
    }
  }
  if (const auto files = process.files_synced()) message.sync = *files;
  kernel::Synced synced = process.vm()->take_synced();
  message.files_lost = synced.lost;
  message.sync_problems = problems_of(std::move(synced));
  return message;
}

class Server {
 public:
  explicit Server(const guest::EngineConfig& config)
      : trace_(can_trace() && config.trace.value_or(false) ? std::make_shared<kernel::Trace>() : nullptr) {
    engine().log = [sender = sender_](guest::Level level, const std::string& text) {
      sender->send(Kind::log, 0, guest::Log{level, text});
    };
    pool_ = std::make_shared<Pool>(config.pool.value_or(8), config.memory_limit_bytes,
                                   trace_);  // has threads at once
  }

  int run() {
    guest::Receiver receiver(guest::control_fd);
    guest::Decoder decoder;
    sender_->send(Kind::ready, 0, ready());
    for (;;) {
      send_replies(receiver);
      const std::string_view bytes = receiver.receive();
      if (bytes.empty()) break;
      decoder.append(bytes);
      while (const auto frame = decoder.next()) handle(*frame, receiver);
    }
    return stop();
  }

 private:
  guest::Ready ready() const {
    guest::Ready message;
    message.pid = ::getpid();
    message.v8 = v8::V8::GetVersion();
    message.node = NODE_VERSION;
    message.trace = trace_ != nullptr;
    if (const char* isolation = std::getenv("TARE_GUEST_ISOLATION"); isolation != nullptr)
      message.isolation = guest::parse<guest::Isolation>(isolation);
    message.isolation["seccomp"] = lock_down();
    return message;
  }

  void handle(const guest::Frame& frame, guest::Receiver& receiver) {
    if (frame.kind == Kind::spawn) {
      spawn(frame, receiver);
      return;
    }
    if (frame.kind == Kind::kill) {
      try {
        kill(frame);
      } catch (const Error& error) {
        sender_->send(Kind::log, 0, guest::Log{guest::Level::warning, error.line()});
      }
      return;
    }
    guest::Reply reply;
    try {
      reply = answer(frame);
    } catch (const Error& error) {
      reply.error = error.line();
    }
    replies_ += guest::encode(Kind::reply, frame.id, json::line(reply));
  }

  /// Two requests that were made together are answered together, so that the client wakes once.
  void send_replies(const guest::Receiver& receiver) {
    if (replies_.empty()) return;
    waits_ = !waits_ && receiver.has_more();
    if (waits_) return;
    sender_->send_frame(replies_, [] {});
    replies_.clear();
  }

  guest::Reply answer(const guest::Frame& frame) {
    switch (frame.kind) {
      case Kind::create_vm:
        return create_vm(frame);
      case Kind::dispose_vm:
        return dispose_vm(frame.id);
      case Kind::write_file:
        return write_file(frame);
      case Kind::stats:
        return stats();
      case Kind::stages:
        return stages();
      case Kind::create_context:
        return create_context(frame);
      default:
        return refusal(fmt::format("the engine knows no request {}", static_cast<int>(frame.kind)));
    }
  }

  guest::Reply create_vm(const guest::Frame& frame) {
    const auto message = guest::parse<guest::CreateVm>(frame.payload);
    if (machines_.contains(frame.id)) return refusal("there is such a machine already");
    kernel::Vm::Options options = options_of(message);
    options.trace = trace_;
    auto vm = kernel::Vm::create(std::move(options), clock_, pool_);
    for (const guest::Mount& mount : message.mounts) {
      if (const auto mounted = add_mount(vm->files(), mount); !mounted.ok()) {
        const std::string why = mounted.error() == EBUSY     ? "the guest has something there"
                                : mounted.error() == ENOTSUP ? "it would be inside another mount"
                                                             : errno_text(mounted.error());
        return refusal(fmt::format("{} at {}: {}", mount.host, mount.guest, why));
      }
    }
    machines_.emplace(frame.id, Machine{std::move(vm), message.env, message.cwd});
    return {};
  }

  guest::Reply create_context(const guest::Frame& frame) {
    auto message = guest::parse<guest::CreateContext>(frame.payload);
    const auto machine = machines_.find(message.vm);
    if (machine == machines_.end()) return refusal("there is no such machine");
    auto setup = std::make_shared<ContextSetup>();
    setup->bootstrap = std::move(message.bootstrap);
    setup->code_cache = message.code_cache;
    if (message.code_cache == guest::CodeCacheMode::folder) {
      if (!message.compile_cache_dir) return refusal("it names no folder");
      setup->folder = CodeFolder::open(*message.compile_cache_dir);
    }
    if (!machine->second.contexts.emplace(frame.id, std::move(setup)).second)
      return refusal("there is such a context already");
    return {};
  }

  guest::Reply dispose_vm(std::uint32_t id) {
    const auto found = machines_.find(id);
    if (found == machines_.end()) return refusal("there is no such machine");
    const std::shared_ptr<kernel::Vm> vm = found->second.vm;
    machines_.erase(found);
    const std::size_t killed = vm->dispose();
    // What they wrote comes to the host with their ends.
    constexpr auto patience = std::chrono::seconds(2);
    kernel::Synced synced;
    if (vm->files().has_mounts()) {
      static_cast<void>(vm->processes().wait_until_empty(std::chrono::steady_clock::now() + patience));
      synced = vm->take_synced();
      synced.add(vm->files().sync());
    }
    guest::Reply reply;
    reply.killed = killed;
    reply.files_lost = synced.lost;
    reply.sync_problems = problems_of(std::move(synced));
    return reply;
  }

  guest::Reply write_file(const guest::Frame& frame) {
    const auto [file, content] = guest::decode_write_file(frame.payload);
    const auto found = machines_.find(frame.id);
    if (found == machines_.end()) return refusal("there is no such machine");
    kernel::FileSystem& files = found->second.vm->files();
    for (std::size_t slash = file.path.find('/', 1); slash != std::string::npos;
         slash = file.path.find('/', slash + 1)) {
      const auto made = files.mkdir({}, std::string_view(file.path).substr(0, slash));
      if (!made.ok() && made.error() != EEXIST) return refusal(errno_text(made.error()));
    }
    const auto written = files.write_file({}, file.path, content, file.mode);
    if (!written.ok()) return refusal(errno_text(written.error()));
    const auto synced = files.end_writer(0);
    if (synced && !synced->problems.empty()) return refusal(synced->problems.front());
    return {};
  }

  guest::Reply stages() const {
    if (trace_ == nullptr) return refusal("this engine counts no stages");
    guest::Reply reply;
    reply.stages = stage_report(*trace_);
    return reply;
  }

  guest::Reply stats() {
    const Pool::Counters pool = pool_->counters();
    const std::lock_guard lock(executions_->mutex);
    const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    guest::Reply reply;
    reply.counters = std::map<std::string, std::int64_t>{
        {"liveGuests", number(executions_->live.size())},
        {"spawned", number(executions_->spawned)},
        {"exited", number(executions_->exited)},
        {"poolHits", number(pool.hits)},
        {"poolMisses", number(pool.misses)},
        {"poolReady", number(pool.ready)},
        {"threads", number(pool.threads)},
        {"workers", number(worker_threads())},
        {"vms", number(machines_.size())},
        {"abandoned", number(abandoned())},
        {"keptHeapPages", number(kept_heap_pages())},
        {"ownSnapshot", has_adopted_snapshot() ? 1 : 0},
    };
    return reply;
  }

  void spawn(const guest::Frame& frame, guest::Receiver& receiver) {
    const kernel::Stopwatch whole(trace_.get());
    const std::uint32_t id = frame.id;
    const auto refuse = [&](const std::string& why) {
      guest::Exited message;
      message.reason = guest::reason::refused;
      message.detail = why;
      sender_->send(Kind::exited, id, message);
    };
    try {
      const auto message = guest::parse<guest::Spawn>(frame.payload);
      Fd socket;
      if (message.stdio == guest::Stdio::pipe) {
        Fd taken = receiver.take_descriptor();
        if (!taken) return refuse("its stdio socket did not arrive");
        socket = std::move(taken);
      }
      const auto found = machines_.find(message.vm);
      if (found == machines_.end()) return refuse("there is no such machine");
      if (message.context && !found->second.contexts.contains(*message.context))
        return refuse("there is no such context");
      const auto started = start(id, message, found->second, std::move(socket), whole);
      if (!started.ok()) return refuse(errno_text(started.error()));
      whole.record(kernel::Stage::execute_total);
    } catch (const Error& error) {
      refuse(error.line());
    }
  }

  /// `resolving` runs since the message came.
  kernel::Result<void> start(std::uint32_t id, const guest::Spawn& message, const Machine& machine, Fd socket,
                             const kernel::Stopwatch& resolving) {
    kernel::SpawnRequest request;
    request.argv = message.argv;
    const auto& env = message.env ? *message.env : machine.env;
    if (machine.vm->permissions().env == kernel::Permission::allow) request.env = env;
    request.cwd = message.cwd.value_or(machine.cwd);
    if (message.timeout_ms) request.run_time = std::chrono::milliseconds(*message.timeout_ms);
    using Stdio = kernel::StdioEntry;
    const auto executions = executions_;
    std::weak_ptr<kernel::Description> stdio;
    if (socket) {
      StdioStreams streams =
          make_stdio(std::move(socket), machine.vm->limits().output_bytes,
                     [executions, id] { executions->signal(id, SIGKILL, guest::reason::output); });
      stdio = streams.output;
      for (auto* stream : {&streams.input, &streams.output, &streams.error})
        request.stdio.push_back({Stdio::Kind::description, -1, std::move(*stream)});
    } else {
      request.stdio.assign(3, {Stdio::Kind::ignore, -1, nullptr});
    }
    request.attachment = std::make_shared<Assignment>(
        message.context ? machine.contexts.at(*message.context) : nullptr, profiling(id, message.profiles));
    request.on_exit = [executions, id, sender = sender_, stdio, trace = trace_](int,
                                                                                const kernel::Exit& exit) {
      // Children that live on may have it, too; what they say has no hearer any more.
      if (const auto stream = stdio.lock()) stream->hang_up();
      const kernel::Stopwatch queued(trace.get());
      const auto process = executions->end(id);
      const std::string frame = guest::encode(Kind::exited, id, json::line(exited(exit, *process)));
      sender->send_frame(frame, [&] { queued.record(kernel::Stage::process_exit_event_queue_wait); });
    };
    resolving.record(kernel::Stage::resolve_execute_request);
    // Its end waits for this lock: nothing comes after `exited`.
    const std::lock_guard lock(executions_->mutex);
    const auto made = machine.vm->processes().create(nullptr, std::move(request));
    if (!made.ok()) return made.failure();
    const kernel::Stopwatch registering(trace_.get());
    sender_->send(Kind::started, id, guest::Started{(*made)->pid()});
    executions_->live.emplace(id, Execution{*made, kernel::Stopwatch(trace_.get())});
    ++executions_->spawned;
    registering.record(kernel::Stage::process_register_and_lifecycle);
    return {};
  }

  std::unique_ptr<const ProfileRequest> profiling(
      std::uint32_t id, const std::optional<std::vector<guest::ProfileKind>>& kinds) const {
    if (!kinds || kinds->empty()) return nullptr;
    return std::make_unique<const ProfileRequest>(
        *kinds, [id, sender = sender_](const guest::ProfilePart& part, std::string_view bytes) {
          sender->send_frame(guest::encode(Kind::profile, id, guest::encode_profile(part, bytes)), [] {});
        });
  }

  void kill(const guest::Frame& frame) {
    const auto message = guest::parse<guest::Kill>(frame.payload);
    const auto signal = guest::signal_number(message.signal);
    if (signal) executions_->signal(frame.id, *signal, guest::reason::killed);
  }

  int stop() {
    constexpr auto patience = std::chrono::seconds(1);
    for (auto& [id, machine] : machines_) machine.vm->dispose();
    pool_->shut_down(std::chrono::steady_clock::now() + patience);
    shut_down_workers(std::chrono::steady_clock::now() + patience);
    return 0;
  }

  struct Execution {
    std::shared_ptr<kernel::Process> process;
    kernel::Stopwatch living;  ///< since the client was told that it has started
  };

  /// What runs, by the number that the client gave it. Shared with the threads of the guests.
  struct Executions {
    std::shared_ptr<kernel::Process> end(std::uint32_t id) {
      const std::lock_guard lock(mutex);
      ++exited;
      const Execution ended = live.extract(id).mapped();
      ended.living.record(kernel::Stage::execute_response_to_exit_event_queued);
      return ended.process;
    }
    void signal(std::uint32_t id, int number, std::string_view why) {
      std::shared_ptr<kernel::Process> process;
      {
        const std::lock_guard lock(mutex);
        const auto found = live.find(id);
        if (found != live.end()) process = found->second.process;
      }
      if (process == nullptr) return;
      if (number == SIGKILL) {
        kill_with_children(process, why);
      } else {
        static_cast<void>(process->signal(number, std::string(why)));
      }
    }

    std::mutex mutex;
    std::map<std::uint32_t, Execution> live;
    std::uint64_t spawned = 0;
    std::uint64_t exited = 0;
  };

  const SystemClock clock_;
  const std::shared_ptr<kernel::Trace> trace_;  ///< null: nothing is counted
  std::shared_ptr<Pool> pool_;
  const std::shared_ptr<Sender> sender_ = std::make_shared<Sender>();
  const std::shared_ptr<Executions> executions_ = std::make_shared<Executions>();
  std::map<std::uint32_t, Machine> machines_;
  std::string replies_;  ///< that were not sent yet
  bool waits_ = false;   ///< those have waited for others
};

}  // namespace

int serve_client(const guest::EngineConfig& config) {
  return Server(config).run();
}

}  // namespace tare::engine
