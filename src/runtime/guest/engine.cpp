#include "runtime/guest/engine.hpp"

#include <deque>
#include <mutex>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/guest/cache.hpp"
#include "runtime/guest/connection.hpp"
#include "runtime/guest/roots.hpp"
#include "runtime/guest/vm_state.hpp"

namespace tare::guest {
namespace {

constexpr std::size_t most_failures = 3;
constexpr std::chrono::seconds failure_window{10};

std::vector<std::string> command_of(const EngineOptions& options, const Prepared& prepared) {
  const Installation& installation = options.installation;
  std::vector<std::string> argv;
  if (!installation.launcher.empty()) {
    argv = {installation.launcher.string(), "--parent", std::to_string(::getpid())};
    if (options.network == Access::allow) argv.emplace_back("--allow-network");
    // All that the engine opens by itself: Node's prefix, its own files, what it starts from.
    for (const auto& folder :
         {installation.node.parent_path().parent_path(), installation.lib, prepared.snapshot.parent_path()})
      argv.insert(argv.end(), {"--read", folder.string()});
    for (const auto& root : options.readable_roots) argv.insert(argv.end(), {"--read", root.string()});
    for (const auto* roots : {&options.roots, &options.cache_roots}) {
      for (const auto& root : *roots) argv.insert(argv.end(), {"--root", root.string()});
    }
    argv.emplace_back("--");
  }
  argv.push_back(installation.node.string());
  argv.insert(argv.end(), installation.node_flags.begin(), installation.node_flags.end());
  EngineConfig config;
  config.pack = prepared.pack.string();
  config.snapshot = prepared.snapshot.string();
  config.pool = options.pool;
  config.memory_limit_bytes = options.memory_limit_bytes;
  if (options.trace) config.trace = true;
  argv.insert(argv.end(), {installation.engine().string(), json::line(config)});
  return argv;
}

constexpr const char* no_vm = "cannot create a virtual machine";

}  // namespace

class Engine::Core {
 public:
  explicit Core(EngineOptions options) : options_(std::move(options)) {
    guest::check(options_.installation);
    options_.roots = checked_roots(options_.roots, MountAccess::rw, options_.installation);
    options_.readable_roots = checked_roots(options_.readable_roots, MountAccess::ro, options_.installation);
    options_.cache_roots = checked_roots(options_.cache_roots, MountAccess::rw, options_.installation);
    check_apart(options_.cache_roots, options_.roots);
    prepared_ = prepare(options_.installation, options_.library);
    if (prepared_.notice) tell(Level::warning, *prepared_.notice);
    try {
      current_ = launch();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::failed) throw;
      // Perhaps what it starts from is damaged in a way that shows only now.
      prepared_ = prepare(options_.installation, options_.library, Reuse::refused);
      current_ = launch();
    }
  }

  /// The process that new machines are made in.
  std::shared_ptr<Connection> connection() {
    const std::lock_guard lock(mutex_);
    if (const auto why = current_->lost()) {
      replace("was lost: " + *why);
    } else if (const auto bytes = current_->resident_bytes(); bytes && *bytes > options_.recycle_bytes) {
      tell(Level::info,
           fmt::format("the guest engine holds {}: the next machine gets a fresh one", text::bytes(*bytes)));
      std::shared_ptr<Connection> fresh = launch();
      std::erase_if(retired_, [](const auto& old) { return old.expired(); });
      retired_.push_back(current_);
      current_ = std::move(fresh);
    }
    return current_;
  }

  std::shared_ptr<Connection> current() {
    const std::lock_guard lock(mutex_);
    return current_;
  }

  std::vector<int> pids() {
    const std::lock_guard lock(mutex_);
    std::vector<int> pids{current_->pid()};
    for (const auto& old : retired_) {
      if (const auto connection = old.lock()) pids.push_back(connection->pid());
    }
    return pids;
  }

  void check(const Mount& mount) const {
    if (is_beneath(mount.host, options_.roots)) return;
    if (mount.access == MountAccess::ro && is_beneath(mount.host, options_.readable_roots)) return;
    throw Error(ErrorCode::input, fmt::format("cannot mount {}", mount.host),
                "it is not beneath a root of the engine");
  }

  Asked<Vm> ask_for_vm(const VmOptions& options);

  void tell(Level level, const std::string& text) const {
    if (options_.log) options_.log(level, text);
  }

 private:
  std::shared_ptr<Connection> launch() {
    auto connection =
        std::make_shared<Connection>(command_of(options_, prepared_), options_.start_limit, options_.log);
    if (const std::string& version = connection->ready().node; version != node_version) {
      throw Error(ErrorCode::unavailable, "the guest engine is unavailable",
                  fmt::format("it needs node {}, and runs in {}", node_version, version));
    }
    return connection;
  }

  void replace(const std::string& why) {
    const Instant now = SystemClock().now();
    std::erase_if(failures_, [&](Instant then) { return now - then > failure_window; });
    failures_.push_back(now);
    if (failures_.size() > most_failures) {
      failures_.pop_back();
      throw Error(
          ErrorCode::failed, "the guest engine keeps failing",
          fmt::format("{} times within {} s; last it {}", most_failures + 1, failure_window.count(), why));
    }
    tell(Level::warning, fmt::format("the guest engine {}; starting another", why));
    current_ = launch();
  }

  EngineOptions options_;
  Prepared prepared_;
  std::mutex mutex_;
  std::shared_ptr<Connection> current_;
  std::vector<std::weak_ptr<Connection>> retired_;
  std::deque<Instant> failures_;
};

Engine Engine::start(EngineOptions options) {
  return Engine(std::make_shared<Core>(std::move(options)));
}

Engine::Engine(Engine&&) noexcept = default;

Engine& Engine::operator=(Engine&& other) noexcept {
  std::swap(core_, other.core_);
  return *this;
}

Engine::~Engine() {
  if (!core_) return;
  const Stopped stopped = stop();
  if (!stopped.guests.empty())
    core_->tell(Level::warning,
                "the guest engine was stopped with live guests: " + text::join(stopped.guests, "; "));
  if (stopped.forced) core_->tell(Level::warning, "the guest engine did not leave by itself and was killed");
}

Vm Engine::create_vm(const VmOptions& options) {
  const Asked<Vm> vm = core_->ask_for_vm(options);
  vm.check(no_vm, *vm.state->connection);
  return Vm(vm.state);
}

std::pair<Vm, Context> Engine::create_vm(const VmOptions& options, const ContextOptions& context) {
  const Asked<Vm> vm = core_->ask_for_vm(options);
  Vm machine(vm.state);  // from here on it goes when this fails
  Asked<Context> inside = ask_for_context(vm.state, context);
  Connection& connection = *vm.state->connection;
  vm.check(no_vm, connection);
  inside.check(no_context, connection);
  return {std::move(machine), Context(std::move(inside.state))};
}

Asked<Vm> Engine::Core::ask_for_vm(const VmOptions& options) {
  const auto connection = this->connection();
  CreateVm message;
  message.permissions = options.permissions;
  message.limits = options.limits;
  message.env = options.env;
  message.cwd = options.cwd;
  for (const Mount& mount : options.mounts) check(mount);
  check_apart(options.mounts);
  message.mounts = options.mounts;
  auto state = std::make_shared<Vm::State>();
  state->connection = connection;
  state->id = connection->next_id();
  state->cache_roots = options_.cache_roots;
  auto reply = connection->ask(Kind::create_vm, state->id, json::line(message));
  return {std::move(state), std::move(reply)};
}

Ready Engine::about() const {
  return core_->current()->ready();
}

std::map<std::string, std::int64_t> Engine::stats() const {
  const auto connection = core_->current();
  const Reply reply = connection->request(Kind::stats, connection->next_id(), "{}");
  if (reply.error) throw Error(ErrorCode::failed, "the guest engine has no statistics", *reply.error);
  return reply.counters.value_or(std::map<std::string, std::int64_t>{});
}

StageReport Engine::stages() const {
  const auto connection = core_->current();
  if (!connection->ready().trace.value_or(false))
    throw Error(ErrorCode::unavailable, "the guest engine counts no stages",
                "it was started or built without tracing");
  Reply reply = connection->request(Kind::stages, connection->next_id(), "{}");
  if (reply.error || !reply.stages)
    throw Error(ErrorCode::failed, "the guest engine has no stages", reply.error.value_or("it sent none"));
  return *std::move(reply.stages);
}

std::vector<int> Engine::pids() const {
  return core_->pids();
}

Engine::Stopped Engine::stop() {
  const Connection::Stopped stopped = core_->current()->stop();
  return {stopped.guests, stopped.forced};
}

Isolation probe_isolation(const Installation& installation) {
  std::error_code error;
  if (!std::filesystem::exists(installation.launcher, error))
    throw Error(ErrorCode::unavailable, "the guest engine's launcher is missing", "", "install Tare again");
  Child probe({{installation.launcher.string(), "--probe"}, engine_environment(), -1});
  probe.wait(std::chrono::seconds(5));
  return parse<Isolation>(probe.words());
}

}  // namespace tare::guest
