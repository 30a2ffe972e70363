#include "engine/isolate/containment.hpp"

#include <atomic>
#include <csignal>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "engine/isolate/isolate.hpp"
#include "engine/kernel/vm.hpp"
#include "protocol/messages.hpp"

namespace tare::engine {
namespace {

thread_local const std::shared_ptr<kernel::Process>* blamed = nullptr;
std::atomic<std::uint64_t> abandoned_count{0};

/// The thread never runs again: the isolate is of no use, and V8 may hold whatever it holds.
[[noreturn]] void stop_here(const char* where, const char* what) {
  const std::shared_ptr<kernel::Process> process = *std::exchange(blamed, nullptr);
  if (engine().log) {
    engine().log(guest::Level::error,
                 fmt::format("V8 gave up on guest {} ({}: {}); its memory is lost until the "
                             "engine ends",
                             process->pid(), where, what));
  }
  abandon(*process, kernel::Exit::by_signal(SIGABRT, std::string(guest::reason::crashed)));
  for (;;) ::pause();
}

void on_trap(int signal) {
  if (blamed != nullptr) stop_here("trap", "an impossible size");
  // Not a guest's: the process ends of it, once this handler has returned.
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void on_failure(const char* where, const char* what) {
  if (blamed != nullptr) stop_here(where == nullptr ? "V8" : where, what == nullptr ? "" : what);
}

void on_no_memory(const char* where, const v8::OOMDetails&) {
  if (blamed != nullptr) stop_here(where == nullptr ? "V8" : where, "out of memory");
}

}  // namespace

void contain_traps() {
  struct sigaction action{};
  action.sa_handler = on_trap;
  ::sigaction(SIGTRAP, &action, nullptr);
}

void contain_failures(v8::Isolate* isolate) {
  isolate->SetFatalErrorHandler(on_failure);
  isolate->SetOOMErrorHandler(on_no_memory);
}

Blame::Blame(const std::shared_ptr<kernel::Process>& process) {
  blamed = &process;
}

Blame::~Blame() {
  blamed = nullptr;
}

void abandon(kernel::Process& process, kernel::Exit exit) {
  if (process.exit()) return;
  ++abandoned_count;
  // Its thread may hold the outer streams for ever, in what waits for them: the other side is not to wait,
  // too.
  for (int fd = 0; fd < 3 && process.ppid() == 1; ++fd) {
    if (const auto stream = process.fds().get(fd); stream.ok()) (*stream)->hang_up();
  }
  process.post_exit(std::move(exit));
}

void kill_with_children(const std::shared_ptr<kernel::Process>& process, std::string_view reason) {
  kernel::ProcessTable& table = process->vm()->processes();
  // Its number may be another's by now.
  if (table.find(process->pid()) == process) table.kill_tree(process->pid(), std::string(reason));
}

std::uint64_t abandoned() {
  return abandoned_count.load();
}

}  // namespace tare::engine
