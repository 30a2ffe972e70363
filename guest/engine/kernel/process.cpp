#include "engine/kernel/process.hpp"

#include <cerrno>
#include <csignal>
#include <utility>

#include "engine/kernel/pipe.hpp"
#include "engine/kernel/trace.hpp"
#include "engine/kernel/vm.hpp"

namespace tare::kernel {
namespace {

constexpr int signal_count = 64;

std::uint64_t bit(int signal) {
  return std::uint64_t{1} << (signal - 1);
}

bool ignored_by_default(int signal) {
  switch (signal) {
    case SIGCHLD:
    case SIGCONT:
    case SIGWINCH:
    case SIGURG:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      return true;
    default:
      return false;
  }
}

}  // namespace

Process::Process(Start start)
    : pid_(start.pid),
      ppid_(start.ppid),
      is_child_(start.ppid != 1),
      vm_(std::move(start.vm)),
      program_(start.program),
      argv_(std::move(start.argv)),
      started_(vm_->clock().now()),
      run_time_(start.run_time ? start.run_time : vm_->limits().run_time),
      attachment_(std::move(start.attachment)),
      env_(std::move(start.env)),
      cwd_(std::move(start.cwd)),
      umask_(start.umask),
      title_(program_ == Program::node ? "node" : "sh"),
      fds_(vm_->limits().open_files, vm_->shared_counters()),
      on_exit_(std::move(start.on_exit)) {}

Origin Process::origin() const {
  return {cwd_, umask_, vm_->permissions().fs, pid_};
}

Result<void> Process::change_directory(std::string_view path) {
  auto to = vm_->files().real_directory(origin(), path);
  if (!to.ok()) return to.failure();
  cwd_ = *std::move(to);
  return {};
}

std::uint32_t Process::set_umask(std::uint32_t umask) {
  return std::exchange(umask_, umask & 0777);
}

Result<std::shared_ptr<Description>> Process::open_description(std::string_view path, int flags,
                                                               std::uint32_t mode) {
  constexpr std::string_view standard[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  for (int fd = 0; fd < 3; ++fd) {
    if (path == standard[fd]) return fds_.get(fd);
  }
  return vm_->files().open(origin(), path, flags, mode);
}

Result<int> Process::open(std::string_view path, int flags, std::uint32_t mode) {
  auto description = open_description(path, flags, mode);
  if (!description.ok()) return description.failure();
  return fds_.add(*std::move(description));
}

Result<std::array<int, 2>> Process::pipe() {
  PipeEnds ends = make_pipe(vm_->shared_counters());
  const auto reader = fds_.add(std::move(ends.reader));
  if (!reader.ok()) return reader.failure();
  const auto writer = fds_.add(std::move(ends.writer));
  if (!writer.ok()) {
    (void)fds_.close(*reader);
    return writer.failure();
  }
  return std::array<int, 2>{*reader, *writer};
}

void Process::post_exit(Exit exit) {
  if (exit_posted_.exchange(true)) return;
  const Stopwatch cleanup(vm_->trace());
  on_kill(nullptr);
  fds_.close_all();
  const Stopwatch syncing(vm_->trace());
  auto synced = vm_->files().end_writer(pid_);
  if (synced) {
    syncing.record(Stage::process_exit_cleanup_sync_host_writes);
  } else {
    syncing.count(Stage::process_exit_cleanup_sync_host_writes_clean_skip);
  }
  {
    const std::lock_guard lock(mutex_);
    if (synced) files_synced_ = synced->files;
    if (const int signal = kill_signal_.load(); signal != 0) {
      exit = Exit::by_signal(signal, kill_reason_.empty() ? std::move(exit.reason) : kill_reason_);
    }
    exit_ = exit;
    signal_waker_.reset();
  }
  if (synced) vm_->add_synced(*std::move(synced));
  vm_->processes().ended(*this, exit, cleanup);
}

std::optional<Exit> Process::exit() const {
  const std::lock_guard lock(mutex_);
  return exit_;
}

std::optional<std::uint64_t> Process::files_synced() const {
  const std::lock_guard lock(mutex_);
  return files_synced_;
}

bool Process::request_kill(int signal, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (exit_ || kill_signal_.load() != 0) return false;
  kill_reason_ = reason;
  kill_signal_.store(signal);
  return true;
}

void Process::deliver_kill() {
  wait_->interrupt();
  const std::lock_guard lock(hook_mutex_);
  if (const auto hook = std::exchange(kill_hook_, nullptr)) hook(kill_signal_.load());
}

Result<void> Process::signal(int signal, const std::string& reason) {
  if (signal < 0 || signal > signal_count) return Errno{EINVAL};
  if (signal == 0) return {};
  // SIGKILL is never among the handled ones.
  std::shared_ptr<Waker> woken;
  bool handled = false;
  {
    const std::lock_guard lock(mutex_);
    handled = (handled_ & bit(signal)) != 0;
    if (handled) {
      pending_ |= bit(signal);
      woken = signal_waker_;
    }
  }
  if (woken) woken->wake();
  if (handled || ignored_by_default(signal)) return {};
  if (request_kill(signal, reason)) deliver_kill();
  return {};
}

std::optional<int> Process::kill_signal() const {
  const int signal = kill_signal_.load();
  return signal == 0 ? std::nullopt : std::optional(signal);
}

void Process::on_kill(std::function<void(int signal)> hook) {
  const std::lock_guard lock(hook_mutex_);
  kill_hook_ = std::move(hook);
  if (!kill_hook_ || !kill_requested()) return;
  std::exchange(kill_hook_, nullptr)(kill_signal_.load());
}

Result<void> Process::set_disposition(int signal, Disposition disposition) {
  if (signal < 1 || signal > signal_count || signal == SIGKILL || signal == SIGSTOP) return Errno{EINVAL};
  const std::lock_guard lock(mutex_);
  if (disposition == Disposition::handled) {
    handled_ |= bit(signal);
  } else {
    handled_ &= ~bit(signal);
    pending_ &= ~bit(signal);
  }
  return {};
}

void Process::set_signal_waker(std::shared_ptr<Waker> waker) {
  const std::lock_guard lock(mutex_);
  signal_waker_ = std::move(waker);
}

std::optional<int> Process::take_signal() {
  const std::lock_guard lock(mutex_);
  if (pending_ == 0) return std::nullopt;
  const int signal = __builtin_ctzll(pending_) + 1;
  pending_ &= pending_ - 1;
  return signal;
}

void Process::child_ended() {
  std::shared_ptr<Waker> woken;
  {
    const std::lock_guard lock(mutex_);
    if ((handled_ & bit(SIGCHLD)) != 0) pending_ |= bit(SIGCHLD);
    woken = signal_waker_;
  }
  wait_->wake();
  if (woken) woken->wake();
}

}  // namespace tare::kernel
