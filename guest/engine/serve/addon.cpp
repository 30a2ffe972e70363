// What Node loads: serve(config) makes the snapshot, or turns the process into an engine.

#include <csignal>
#include <cstdio>
#include <exception>

#include <fmt/format.h>
#include <node.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "engine/isolate/isolate.hpp"
#include "engine/isolate/native.hpp"
#include "engine/serve/server.hpp"
#include "protocol/messages.hpp"

namespace tare::engine {
namespace {

/// Node's handlers of signals would wait for its loop. SIGUSR1 would open the inspector's port.
void reset_signals() {
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGUSR1, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

void set_up(node::MultiIsolatePlatform* platform, const guest::EngineConfig& config) {
  // Before any isolate of ours exists; Node 20 refuses some of them on its command line.
  v8::V8::SetFlagsFromString("--no-turboshaft-loop-unrolling");  // its loops can't be terminated
  reset_signals();
  engine().platform = platform;
  engine().pack = std::make_unique<Pack>(config.pack);
  engine().references = external_references(*engine().pack);
}

int run(const guest::EngineConfig& config) {
  if (config.build.value_or(false)) {
    file::write_atomically(config.snapshot, build_snapshot());
    return 0;
  }
  // A copy of our own: V8 reads it whenever an isolate is made.
  static const std::string snapshot = file::read(config.snapshot);
  engine().snapshot = {snapshot.data(), static_cast<int>(snapshot.size())};
  return serve_client(config);
}

/// serve(config): never returns to Node, whose loop would start otherwise.
void serve(const v8::FunctionCallbackInfo<v8::Value>& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  int code = exit_failed;
  try {
    const auto config = guest::parse<guest::EngineConfig>(to_string(isolate, args[0]));
    set_up(node::GetMultiIsolatePlatform(node::GetCurrentEnvironment(context)), config);
    code = run(config);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.line());
    code = error.exit_code();
  } catch (const std::exception& error) {
    fmt::print(stderr, "tare: the guest engine failed ({})\n", error.what());
  }
  std::fflush(stderr);
  ::_exit(code);
}

}  // namespace
}  // namespace tare::engine

NODE_MODULE_INIT() {
  static_cast<void>(module);
  static_cast<void>(context);
  NODE_SET_METHOD(exports, "serve", tare::engine::serve);
}
