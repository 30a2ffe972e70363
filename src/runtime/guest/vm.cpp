#include "runtime/guest/vm.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "protocol/socket.hpp"
#include "runtime/guest/connection.hpp"
#include "runtime/guest/execution_state.hpp"
#include "runtime/guest/roots.hpp"
#include "runtime/guest/vm_state.hpp"

namespace tare::guest {
namespace {

Execution spawn_in(const Vm::State& vm, std::optional<std::uint32_t> context, const SpawnOptions& options) {
  if (vm.disposed) throw Error(ErrorCode::failed, "the virtual machine was disposed of");
  Spawn message;
  message.vm = vm.id;
  message.context = context;
  message.argv = options.argv;
  message.cwd = options.cwd;
  message.env = options.env;
  message.stdio = options.stdio;
  if (!options.profiles.empty()) message.profiles = options.profiles;
  if (options.timeout) message.timeout_ms = static_cast<std::uint64_t>(options.timeout->count());

  auto state = std::make_unique<Execution::State>();
  state->connection = vm.connection;
  state->id = vm.connection->next_id();
  Fd theirs;
  if (options.stdio == Stdio::pipe) {
    SocketPair pair = make_socket_pair();
    state->stdio = std::move(pair.ours);
    state->output_open = true;
    theirs = std::move(pair.theirs);
  }
  state->record = vm.connection->spawn(state->id, message, theirs.get());
  return Execution(std::move(state));
}

/// The real path of a folder for code.
std::string cache_folder(const std::optional<std::string>& folder,
                         const std::vector<std::filesystem::path>& roots) {
  if (!folder) throw Error(ErrorCode::input, "cannot keep code", "no folder is named");
  std::error_code error;
  const auto real = std::filesystem::canonical(*folder, error);
  if (error) throw Error(ErrorCode::input, fmt::format("cannot keep code in '{}'", *folder), error.message());
  if (!is_beneath(real, roots)) {
    throw Error(ErrorCode::input, fmt::format("cannot keep code in {}", *folder),
                "it is not beneath a cache root of the engine");
  }
  return real.string();
}

}  // namespace

Execution Context::spawn(const SpawnOptions& options) {
  return spawn_in(*state_->vm, state_->id, options);
}

Vm::Vm(std::shared_ptr<State> state) : state_(std::move(state)) {}

Vm::~Vm() {
  if (!state_ || state_->disposed || state_->connection->lost()) return;
  try {
    // Without waiting for the answer, which nobody needs.
    state_->connection->send(Kind::dispose_vm, state_->id, "{}");
  } catch (const std::exception&) {
    // No engine, no machine.
  }
}

void Vm::write_file(const std::string& path, std::string_view content, std::uint32_t mode) {
  const Reply reply =
      state_->connection->request(Kind::write_file, state_->id, encode_write_file({path, mode}, content));
  if (reply.error)
    throw Error(ErrorCode::failed, fmt::format("cannot write {} in the virtual machine", path), *reply.error);
}

Execution Vm::spawn(const SpawnOptions& options) {
  return spawn_in(*state_, std::nullopt, options);
}

Asked<Context> ask_for_context(const std::shared_ptr<Vm::State>& vm, const ContextOptions& options) {
  CreateContext message{vm->id, options.bootstrap, options.code_cache, {}};
  if (options.code_cache == CodeCacheMode::folder)
    message.compile_cache_dir = cache_folder(options.compile_cache_dir, vm->cache_roots);
  auto context = std::make_shared<Context::State>();
  context->vm = vm;
  context->id = vm->connection->next_id();
  auto reply = vm->connection->ask(Kind::create_context, context->id, json::line(message));
  return {std::move(context), std::move(reply)};
}

Context Vm::create_context(const ContextOptions& options) {
  const Asked<Context> context = ask_for_context(state_, options);
  context.check(no_context, *state_->connection);
  return Context(context.state);
}

Vm::Disposed Vm::dispose() {
  if (state_->disposed.exchange(true)) return {};
  const Reply reply = state_->connection->request(Kind::dispose_vm, state_->id, "{}");
  if (reply.error) throw Error(ErrorCode::failed, "cannot dispose of the virtual machine", *reply.error);
  return {reply.killed.value_or(0), reply.files_lost.value_or(0),
          reply.sync_problems.value_or(std::vector<std::string>())};
}

}  // namespace tare::guest
