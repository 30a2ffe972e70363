#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kernel/process.hpp"

namespace tare::kernel {

class Stopwatch;

/// Runs processes: the engine's guest threads.
class Runner {
 public:
  virtual ~Runner() = default;
  /// Begins to run the process on a thread that is not the caller's and returns at once. Whatever happens,
  /// that thread ends with process->post_exit(). It runs nothing of a process that has kill_requested(). For
  /// Program::shell the thread calls run_shell(). An errno (EAGAIN: no thread) means that it never will run:
  /// the process is taken back as if it had not been made.
  virtual Result<void> start(std::shared_ptr<Process> process) = 0;
};

/// What a descriptor of a new process stands for; the index in SpawnRequest::stdio is the descriptor.
struct StdioEntry {
  enum class Kind {
    closed,
    ignore,       ///< /dev/null
    inherit,      ///< `fd` of the parent
    description,  ///< `description`: the end of a pipe, say
  };
  Kind kind = Kind::ignore;
  int fd = -1;
  std::shared_ptr<Description> description;
};

struct SpawnRequest {
  /// What to run; argv[0] when empty. With a slash a path, otherwise looked up in the PATH of `env`.
  std::string file;
  std::vector<std::string> argv;
  Process::Environment env;
  /// The parent's when empty ("/" for the engine).
  std::string cwd;
  std::vector<StdioEntry> stdio;
  /// From its start to its end; the Vm's limit when absent.
  std::optional<std::chrono::milliseconds> run_time;
  std::shared_ptr<Attachment> attachment;
  /// Called on the child's last thread when it has ended, without any lock, after its descriptors were
  /// closed. It must own what it touches: the parent may be gone by then.
  Process::ExitCallback on_exit;
};

struct Reaped {
  int pid;
  Exit exit;
};

/// The processes of one Vm: who is whose child, who is a zombie. Thread-safe.
///
/// Process 1 is the Vm itself: it is the parent of what the engine starts and of orphans, and reaps at once.
/// Pids go up from 2, wrap at 32,768 and are not reused while their process is alive or a zombie.
class ProcessTable {
 public:
  /// `runner` starts what is created.
  ProcessTable(Vm& vm, std::shared_ptr<Runner> runner);
  ~ProcessTable();

  /// Makes a process and starts it. Called on the thread of `parent`, which is null for the engine. In this
  /// order: EACCES (permission), EPERM (the Vm is being disposed), E2BIG (arguments and environment over 2
  /// MiB, or one over 128 KiB), EINVAL (no argv, NUL), EBADF (an inherited descriptor), ENOENT/ENOTDIR (cwd),
  /// ENOENT/EACCES/ENOEXEC (program), EAGAIN (limit).
  Result<std::shared_ptr<Process>> create(const std::shared_ptr<Process>& parent, SpawnRequest request);

  enum class Block { no, yes };
  /// waitpid(2): a child that ended, which is then gone; the one with `pid`, or any for nothing. Without a
  /// value when none has ended yet and Block::no. ECHILD when there is no such child; EINTR when `parent` is
  /// killed.
  Result<std::optional<Reaped>> wait(Process& parent, std::optional<int> pid, Block block);

  /// kill(2) for one pid. ESRCH when there is none; a zombie takes it without effect. Pid 1 ignores signals
  /// (EPERM for SIGKILL). EINVAL for no signal.
  Result<void> kill(int pid, int signal, const std::string& reason = {});
  /// SIGKILL for a process and all that descend from it; how many were alive.
  std::size_t kill_tree(int pid, const std::string& reason);

  /// Also zombies. Null when there is none.
  std::shared_ptr<Process> find(int pid) const;
  /// Live processes and zombies.
  std::size_t count() const;

  /// From now on create() is EPERM, and everything that lives is killed. How many lived.
  std::size_t shut_down(const std::string& reason);
  /// Sleeps until nothing lives or the deadline (steady clock) passes; whether nothing lives.
  bool wait_until_empty(Instant deadline);

 private:
  friend class Process;
  using Descriptions = std::vector<std::shared_ptr<Description>>;

  Result<void> may_create(const std::shared_ptr<Process>& parent, const SpawnRequest& request) const;
  Result<Descriptions> open_stdio(const std::shared_ptr<Process>& parent, SpawnRequest& request) const;
  Result<std::shared_ptr<Process>> insert(const std::shared_ptr<Process>& parent, Process::Start start);
  void take_back(const std::shared_ptr<Process>& process);
  /// The process has ended: its children are adopted, its parent is told. `cleanup` has run since its end.
  void ended(Process& process, const Exit& exit, const Stopwatch& cleanup);
  int free_pid();

  Vm& vm_;
  const std::shared_ptr<Runner> runner_;
  mutable std::mutex mutex_;  ///< taken before the lock of a process
  std::condition_variable ended_;
  std::map<int, std::shared_ptr<Process>> processes_;
  std::size_t live_ = 0;
  std::size_t ending_ = 0;  ///< ended, but the exit callback still runs
  int next_pid_ = 2;
  enum class Phase { open, shut };
  Phase phase_ = Phase::open;
};

}  // namespace tare::kernel
