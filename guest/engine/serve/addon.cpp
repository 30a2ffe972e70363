// What Node loads: serve(config) makes the snapshot, or turns the process into an engine.

#include <csignal>
#include <cstdio>
#include <exception>
#include <malloc.h>
#include <node.h>
#include <node_version.h>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "engine/isolate/containment.hpp"
#include "engine/isolate/heap_pages.hpp"
#include "engine/isolate/isolate.hpp"
#include "engine/isolate/mapped_file.hpp"
#include "engine/isolate/native.hpp"
#include "engine/modules/code_cache.hpp"
#include "engine/serve/first_run.hpp"
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
  // Before any isolate of ours exists.
  v8::V8::SetFlagsFromString("--no-turboshaft-loop-unrolling");  // its loops can't be terminated
  v8::V8::SetFlagsFromString("--wasm-max-mem-pages=0");          // they would be in nobody's budget
  // Not while a process starts, which has more functions to run once than to run often.
  v8::V8::SetFlagsFromString("--baseline-batch-compilation-threshold=20000");
  reset_signals();
  contain_traps();
  keep_heap_pages();
  // What each isolate takes while it is made is not given back in between: the next one takes the same.
  ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
  ::mallopt(M_MMAP_THRESHOLD, 4 << 20);
  engine().platform = platform;
  engine().pack = std::make_unique<Pack>(config.pack);
  engine().references = external_references(*engine().pack);
}

void use_snapshot(std::string_view blob) {
  static v8::StartupData data;
  data = {blob.data(), static_cast<int>(blob.size())};
  engine().snapshot = &data;
}

int run(const guest::EngineConfig& config) {
  if (config.build.value_or(false)) {
    static const std::string blob = build_snapshot(
        config.library.value_or(guest::Library::small));  // a thread that does not end may still read it
    file::write_atomically(config.snapshot, blob);
    use_snapshot(blob);
    make_code(code_beside(config.snapshot));
    return 0;
  }
  use_snapshot(map_file(config.snapshot, "the guest's snapshot", Reading::whole));
  code_cache().load(code_beside(config.snapshot), NODE_VERSION);
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
