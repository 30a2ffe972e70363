#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/kernel/fd_table.hpp"
#include "engine/kernel/file_system.hpp"
#include "engine/kernel/waker.hpp"

namespace tare::kernel {

class Vm;
class ProcessTable;

/// What a process's runner is to do beside running it. The kernel hands it on and knows nothing of it.
class Attachment {
 public:
  Attachment() = default;
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;
  virtual ~Attachment() = default;
  /// What a process that this one starts gets of it.
  virtual std::shared_ptr<Attachment> for_child() const { return nullptr; }
};

/// How a process ended: with an exit code (0 to 255) or by a signal, and never both. `reason` is for people
/// and set when the engine ended it: "killed: 128 MB of heap used up".
struct Exit {
  std::optional<int> code;
  std::optional<int> signal;
  std::string reason;

  static Exit with_code(int code) { return {code & 0xff, std::nullopt, {}}; }
  static Exit by_signal(int signal, std::string reason = {}) {
    return {std::nullopt, signal, std::move(reason)};
  }
  bool operator==(const Exit&) const = default;
};

/// A process of the guest, run by one thread of the engine.
///
/// What is marked "own thread" belongs to that thread alone, the rest is thread-safe. It is alive until
/// post_exit(), then a zombie until its parent waits for it; the object lives as long as somebody holds it.
class Process : public std::enable_shared_from_this<Process> {
 public:
  enum class State { running, zombie };
  using Environment = std::map<std::string, std::string>;
  using ExitCallback = std::function<void(int pid, const Exit& exit)>;
  struct Start;

  /// Through ProcessTable::create().
  explicit Process(Start start);

  int pid() const { return pid_; }
  /// Changes to 1 when the parent ends.
  int ppid() const { return ppid_.load(); }
  /// Whether another process started it, whatever became of that one.
  bool is_child() const { return is_child_; }
  const std::shared_ptr<Vm>& vm() const { return vm_; }
  /// What it runs, and its arguments: for a script with a `#!` line already those of the interpreter.
  Program program() const { return program_; }
  const std::vector<std::string>& argv() const { return argv_; }
  Instant started() const { return started_; }
  /// How long it may run, if that is limited. Enforced by who runs it.
  std::optional<std::chrono::milliseconds> run_time() const { return run_time_; }
  const std::shared_ptr<Attachment>& attachment() const { return attachment_; }

  /// Own thread.
  Environment& env() { return env_; }
  const std::string& cwd() const { return cwd_; }
  /// Own thread. ENOENT, ENOTDIR and the like; afterwards cwd() is the real path.
  Result<void> change_directory(std::string_view path);
  /// Own thread.
  std::uint32_t umask() const { return umask_; }
  std::uint32_t set_umask(std::uint32_t umask);
  /// Own thread: who asks, for FileSystem. Valid until the working directory changes.
  Origin origin() const;
  const std::string& title() const { return title_; }
  void set_title(std::string title) { title_ = std::move(title); }

  FdTable& fds() { return fds_; }
  /// open(2): FileSystem::open and the lowest free descriptor. Own thread.
  Result<int> open(std::string_view path, int flags, std::uint32_t mode = 0666);
  /// The same without a descriptor. /dev/stdin, /dev/stdout and /dev/stderr are what 0, 1 and 2 stand for.
  Result<std::shared_ptr<Description>> open_description(std::string_view path, int flags, std::uint32_t mode);
  /// pipe(2): {reader, writer}.
  Result<std::array<int, 2>> pipe();

  /// Where its blocking calls sleep; interrupted by a kill.
  const std::shared_ptr<Wait>& wait() const { return wait_; }

  State state() const { return state_.load(); }

  /// Processor time of its thread, which says so before it ends.
  /// What other threads have done for it so far, beside its own: time of the processor, and pages that they
  /// were the first to touch.
  void add_background(Nanoseconds time, std::uint64_t page_faults) {
    background_ns_ += time.count();
    background_faults_ += page_faults;
  }
  Nanoseconds background_time() const { return Nanoseconds(background_ns_.load()); }
  std::uint64_t background_faults() const { return background_faults_.load(); }
  void set_cpu_time(Nanoseconds time) { cpu_time_ns_.store(time.count()); }
  std::optional<Nanoseconds> cpu_time() const {
    const std::int64_t ns = cpu_time_ns_.load();
    return ns < 0 ? std::nullopt : std::optional(Nanoseconds(ns));
  }

  /// How many files of mounts it wrote that are on the host now, once it is a zombie; nothing when it wrote
  /// none.
  std::optional<std::uint64_t> files_synced() const;

  /// Its thread says that it has ended: descriptors are closed, what it wrote into mounts goes back to the
  /// host, children are adopted, and the parent is told. Once;
  /// later calls do nothing. When a kill is pending its signal and reason are what the parent sees, whatever
  /// `exit` says.
  void post_exit(Exit exit);
  /// How it ended, once it is a zombie.
  std::optional<Exit> exit() const;

  /// Sends a signal, as kill(2) does once the process is found. 0 does nothing. A signal that is handled
  /// becomes pending and wakes the signal waker; SIGCHLD, SIGCONT, SIGWINCH, SIGURG are ignored unless
  /// handled; every other one, and always SIGKILL, ends the process: the kill is sticky. EINVAL for no signal
  /// (1 to 64). Job control does not exist: SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU are ignored.
  Result<void> signal(int signal, const std::string& reason = {});
  /// Whether it is to end, and by which signal. A process killed before its thread runs never runs.
  bool kill_requested() const { return kill_signal_.load() != 0; }
  std::optional<int> kill_signal() const;
  /// Called once, on the killer's thread, when a kill comes; at once if it has come already. Replaces the one
  /// before; null for none. When this returns the one before is not running and never will: the isolate sets
  /// null before it goes. The hook runs under a lock of its own, so it must not call on_kill().
  void on_kill(std::function<void(int signal)> hook);

  /// Whether a guest handles `signal` (process.on('SIGTERM')). EINVAL for SIGKILL and SIGSTOP.
  enum class Disposition { standard, handled };
  Result<void> set_disposition(int signal, Disposition disposition);
  /// Woken when a handled signal becomes pending, and when a child ended.
  void set_signal_waker(std::shared_ptr<Waker> waker);
  /// The lowest pending signal, which is then no longer pending.
  std::optional<int> take_signal();

 private:
  friend class ProcessTable;
  /// Whether this was the first; the waiting and the hook are told by deliver_kill(), outside of any lock.
  bool request_kill(int signal, const std::string& reason);
  void deliver_kill();
  void child_ended();

  const int pid_;
  std::atomic<int> ppid_;
  const bool is_child_;
  const std::shared_ptr<Vm> vm_;
  const Program program_;
  const std::vector<std::string> argv_;
  const Instant started_;
  const std::optional<std::chrono::milliseconds> run_time_;
  const std::shared_ptr<Attachment> attachment_;
  Environment env_;
  std::string cwd_;
  std::uint32_t umask_ = 022;
  std::string title_;
  FdTable fds_;
  const std::shared_ptr<Wait> wait_ = std::make_shared<Wait>();

  std::atomic<State> state_{State::running};
  std::atomic<int> kill_signal_{0};
  std::atomic<bool> exit_posted_{false};
  std::atomic<std::int64_t> cpu_time_ns_{-1};
  std::atomic<std::int64_t> background_ns_{0};
  std::atomic<std::uint64_t> background_faults_{0};

  mutable std::mutex mutex_;  ///< the members below
  std::string kill_reason_;
  std::optional<Exit> exit_;
  std::optional<std::uint64_t> files_synced_;
  std::uint64_t handled_ = 0;  ///< bit n - 1 is signal n
  std::uint64_t pending_ = 0;
  std::shared_ptr<Waker> signal_waker_;

  std::mutex hook_mutex_;
  std::function<void(int)> kill_hook_;

  // Under the lock of the table.
  std::set<int> children_;
  ExitCallback on_exit_;
};

/// What a new process starts with; made by ProcessTable::create().
struct Process::Start {
  int pid;
  int ppid;
  std::shared_ptr<Vm> vm;
  Program program;
  std::vector<std::string> argv;
  Environment env;
  std::string cwd;
  std::uint32_t umask;
  std::optional<std::chrono::milliseconds> run_time;
  std::shared_ptr<Attachment> attachment;
  ExitCallback on_exit;
};

}  // namespace tare::kernel
