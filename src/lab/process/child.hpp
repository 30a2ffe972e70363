#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <spawn.h>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/fd.hpp"

namespace tare::process {

/// What one of the three standard streams of a child is connected to.
struct Stdio {
  enum class Kind {
    null,     ///< /dev/null
    inherit,  ///< the parent's own stream
    pipe,     ///< a pipe whose other end the Child owns, non-blocking
    fd,       ///< a descriptor of the caller, which stays open until the Command is made
  };
  Kind kind = Kind::null;
  int fd = -1;

  static constexpr Stdio null() { return {Kind::null, -1}; }
  static constexpr Stdio inherit() { return {Kind::inherit, -1}; }
  static constexpr Stdio pipe() { return {Kind::pipe, -1}; }
  static constexpr Stdio descriptor(int fd) { return {Kind::fd, fd}; }
};

/// What the environment of a child starts from, before `SpawnOptions::env` is laid over it.
enum class EnvBase { inherit, empty };

struct SpawnOptions {
  /// The program and its arguments. A name without a slash is looked up on this process's PATH; a path
  /// is taken relative to `cwd`.
  std::vector<std::string> argv{};
  EnvBase env_base = EnvBase::inherit;
  std::map<std::string, std::string> env{};
  std::optional<std::string> cwd{};
  Stdio in = Stdio::null();
  Stdio out = Stdio::null();
  Stdio err = Stdio::null();
};

/// What a process used, from its own wait4: never the running maximum of RUSAGE_CHILDREN. Includes the
/// children that it waited for.
struct Usage {
  std::chrono::microseconds user{};
  std::chrono::microseconds system{};
  /// ru_maxrss. A child starts with its parent's peak, so a figure at or below the RSS of the process that
  /// spawned it says only "at most that".
  std::uint64_t max_rss_bytes = 0;
};

/// How a process ended. Exactly one of `code` and `signal` is set, or neither when the status was lost
/// (somebody else reaped it); that is a failure, never exit 0.
struct Exit {
  std::optional<int> code;
  std::optional<int> signal;
  Usage usage;

  bool ok() const { return code == 0; }
};

/// "exit code 7", "killed by SIGKILL", "lost exit status".
std::string describe(const Exit& exit);

/// A command that could not be started: names the program (or folder) and the reason.
class SpawnError : public Error {
 public:
  SpawnError(const std::string& what, int error, std::string why);
  int error_number() const { return error_; }
  /// The system said no for now (EAGAIN, ENOMEM, EMFILE, ENFILE): neither the command's fault nor an exit.
  bool refused() const;

 private:
  int error_;
};

/// A running process that leads its own process group, and its pipes. The destructor kills the group and
/// reaps. One thread at a time.
class Child {
 public:
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  /// Stays the process's number after it was reaped, when it may belong to somebody else.
  pid_t pid() const { return pid_; }
  /// Readable for poll once the process has exited.
  int pidfd() const { return pidfd_.get(); }

  /// Ends of the pipes that were asked for, all non-blocking and CLOEXEC; empty otherwise.
  Fd in;
  Fd out;
  Fd err;

  /// Waits until the process has exited and leaves it as a zombie, so that its number (and that of its
  /// group) is still its own. False when the deadline passed. True at once when it was reaped.
  bool wait_exit(Instant deadline) const;
  /// Waits and reaps. Nothing when the deadline passed; the same answer again once reaped.
  /// A deadline in the past asks without waiting; Instant::max() waits for ever.
  std::optional<Exit> wait(Instant deadline);
  const std::optional<Exit>& exit() const { return exit_; }

  /// Sends a signal to the process, or SIGKILL to its group. Nothing happens once it was reaped: to kill
  /// what a process left behind, call kill_group() between wait_exit() and wait().
  void signal(int number) const;
  void kill_group() const;

 private:
  friend class Command;
  Child(pid_t pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid_ = -1;
  Fd pidfd_;
  std::optional<Exit> exit_;
};

/// Everything that is needed to start a process, prepared once, so that start() is posix_spawn and
/// pidfd_open and no more (plus pipe2 for each pipe). The child has default signals, none blocked.
class Command {
 public:
  /// Throws SpawnError when the program is not on PATH, Error(usage) when argv is empty.
  explicit Command(const SpawnOptions& options);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Throws SpawnError when the command cannot be started; then nothing is left behind.
  Child start() const;

  /// The program that start() runs: a path with at least one slash.
  const std::string& program() const { return program_; }

 private:
  struct Actions;
  void connect(Actions& actions, int target, const Stdio& stdio, int pipe_end) const;
  Child launch(const posix_spawn_file_actions_t& actions) const;
  SpawnError error(int number) const;

  std::string program_;
  std::vector<std::string> argv_;
  std::vector<std::string> env_;
  std::vector<char*> argv_pointers_;
  std::vector<char*> env_pointers_;
  std::optional<std::string> cwd_;
  Stdio stdio_[3];
  std::vector<Fd> owned_;
  Fd null_;
  bool has_pipes_ = false;
  std::unique_ptr<Actions> ready_;
  posix_spawnattr_t attributes_;
};

/// Command(options).start().
Child spawn(const SpawnOptions& options);

}  // namespace tare::process
