#include "lab/process/child.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lab/process/pidfd.hpp"
#include "lab/process/poll.hpp"

namespace tare::process {
namespace {

/// A process that SIGKILL does not end within this long (stuck in the kernel) is left behind.
constexpr auto reap_limit = std::chrono::seconds(10);

/// Moves a descriptor above the standard three, where dup2 into the child's 0, 1, 2 cannot overwrite it.
Fd above_standard(Fd fd) {
  if (!fd || fd.get() > 2) return fd;
  return Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
}

struct Pipe {
  Fd read;
  Fd write;
};

std::optional<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  pipe.read = above_standard(std::move(pipe.read));
  pipe.write = above_standard(std::move(pipe.write));
  if (!pipe.read || !pipe.write) return std::nullopt;
  return pipe;
}

void make_non_blocking(const Fd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

bool is_program(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

/// The path of a program, as execvp would find it. Empty when there is none; errno says why.
std::string find_on_path(const std::string& name) {
  if (name.empty()) {
    errno = ENOENT;
    return {};
  }
  if (name.find('/') != std::string::npos) return name;
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  bool found_unusable = false;
  for (;;) {
    const std::size_t colon = folders.find(':');
    const std::string_view folder = folders.substr(0, colon);
    std::string path = folder.empty() ? "." : std::string(folder);
    path += '/';
    path += name;
    if (is_program(path)) return path;
    found_unusable = found_unusable || ::access(path.c_str(), F_OK) == 0;
    if (colon == std::string_view::npos) break;
    folders.remove_prefix(colon + 1);
  }
  errno = found_unusable ? EACCES : ENOENT;
  return {};
}

std::vector<std::string> environment_of(const SpawnOptions& options) {
  std::vector<std::string> result;
  if (options.env_base == EnvBase::inherit) {
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      if (!options.env.contains(std::string(text.substr(0, text.find('='))))) result.emplace_back(text);
    }
  }
  for (const auto& [name, value] : options.env) {
    std::string entry = name;
    entry += '=';
    entry += value;
    result.push_back(std::move(entry));
  }
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::chrono::microseconds to_microseconds(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

/// wait4, blocking. A status that somebody else took gives an Exit with neither code nor signal.
Exit reap(pid_t pid) {
  int status = 0;
  rusage usage{};
  pid_t got = 0;
  do {
    got = ::wait4(pid, &status, 0, &usage);
  } while (got < 0 && errno == EINTR);
  Exit exit;
  if (got != pid) return exit;
  if (WIFEXITED(status)) exit.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
  exit.usage.user = to_microseconds(usage.ru_utime);
  exit.usage.system = to_microseconds(usage.ru_stime);
  exit.usage.max_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return exit;
}

bool wait_for_exit(int pidfd, Instant deadline) {
  pollfd entry{pidfd, POLLIN, 0};
  return poll_until({&entry, 1}, deadline) > 0;
}

}  // namespace

std::string describe(const Exit& exit) {
  if (exit.code) return "exit code " + std::to_string(*exit.code);
  if (!exit.signal) return "lost exit status";
  const char* name = sigabbrev_np(*exit.signal);
  return name != nullptr ? "killed by SIG" + std::string(name)
                         : "killed by signal " + std::to_string(*exit.signal);
}

SpawnError::SpawnError(const std::string& what, int error, std::string why)
    : Error(error == ENOENT || error == EACCES || error == ENOEXEC || error == ENOTDIR
                ? ErrorCode::unavailable
                : ErrorCode::failed,
            what, std::move(why)),
      error_(error) {}

bool SpawnError::refused() const {
  return error_ == EAGAIN || error_ == ENOMEM || error_ == EMFILE || error_ == ENFILE;
}

Child::Child(Child&& other) noexcept
    : in(std::move(other.in)),
      out(std::move(other.out)),
      err(std::move(other.err)),
      pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      exit_(other.exit_) {}

Child::~Child() {
  if (pid_ < 0 || exit_) return;
  kill_group();
  try {
    wait(std::chrono::steady_clock::now() + reap_limit);
  } catch (const Error&) {
    return;  // poll itself failed; SIGKILL was sent, and there is nothing more to do
  }
}

bool Child::wait_exit(Instant deadline) const {
  return exit_ || wait_for_exit(pidfd_.get(), deadline);
}

std::optional<Exit> Child::wait(Instant deadline) {
  if (!exit_ && wait_for_exit(pidfd_.get(), deadline)) {
    exit_ = reap(pid_);
    pidfd_.reset();
  }
  return exit_;
}

void Child::signal(int number) const {
  if (pid_ > 0 && !exit_) ::kill(pid_, number);
}

void Child::kill_group() const {
  if (pid_ <= 0 || exit_) return;
  ::kill(-pid_, SIGKILL);
  // A process that left its first group is not in -pid any more.
  ::kill(pid_, SIGKILL);
}

struct Command::Actions {
  posix_spawn_file_actions_t list;
  Actions() { check(posix_spawn_file_actions_init(&list)); }
  ~Actions() { posix_spawn_file_actions_destroy(&list); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  static void check(int error) {
    if (error != 0) throw Error(ErrorCode::failed, "cannot prepare a process", errno_text(error));
  }
};

Command::Command(const SpawnOptions& options)
    : argv_(options.argv),
      env_(environment_of(options)),
      cwd_(options.cwd),
      stdio_{options.in, options.out, options.err} {
  if (argv_.empty()) throw Error(ErrorCode::usage, "cannot start a process", "no command was given");
  program_ = find_on_path(argv_[0]);
  if (program_.empty()) throw error(errno);
  argv_pointers_ = pointers_to(argv_);
  env_pointers_ = pointers_to(env_);
  null_ = above_standard(Fd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  if (!null_) throw error(errno);
  for (Stdio& stdio : stdio_) {
    has_pipes_ = has_pipes_ || stdio.kind == Stdio::Kind::pipe;
    if (stdio.kind != Stdio::Kind::fd) continue;
    owned_.emplace_back(::fcntl(stdio.fd, F_DUPFD_CLOEXEC, 3));
    if (!owned_.back()) throw error(errno);
    stdio.fd = owned_.back().get();
  }
  if (!has_pipes_) {
    ready_ = std::make_unique<Actions>();
    for (int i = 0; i < 3; ++i) connect(*ready_, i, stdio_[i], -1);
    if (cwd_) Actions::check(posix_spawn_file_actions_addchdir_np(&ready_->list, cwd_->c_str()));
  }
  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  Actions::check(posix_spawnattr_init(&attributes_));
  posix_spawnattr_setflags(&attributes_,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes_, 0);
  posix_spawnattr_setsigdefault(&attributes_, &all);
  posix_spawnattr_setsigmask(&attributes_, &none);
}

Command::~Command() {
  posix_spawnattr_destroy(&attributes_);
}

void Command::connect(Actions& actions, int target, const Stdio& stdio, int pipe_end) const {
  switch (stdio.kind) {
    case Stdio::Kind::inherit:
      return;
    case Stdio::Kind::null:
      return Actions::check(posix_spawn_file_actions_adddup2(&actions.list, null_.get(), target));
    case Stdio::Kind::fd:
      return Actions::check(posix_spawn_file_actions_adddup2(&actions.list, stdio.fd, target));
    case Stdio::Kind::pipe:
      return Actions::check(posix_spawn_file_actions_adddup2(&actions.list, pipe_end, target));
  }
}

SpawnError Command::error(int number) const {
  if (cwd_) {
    struct stat status;
    if (::stat(cwd_->c_str(), &status) != 0) {
      return SpawnError("cannot start '" + argv_[0] + "' in '" + *cwd_ + "'", errno, errno_text(errno));
    }
    if (!S_ISDIR(status.st_mode)) {
      return SpawnError("cannot start '" + argv_[0] + "' in '" + *cwd_ + "'", ENOTDIR, errno_text(ENOTDIR));
    }
  }
  std::string why = errno_text(number);
  if (number == ENOENT && !cwd_ && !program_.empty() && ::access(program_.c_str(), F_OK) == 0) {
    why = "the interpreter that its first line or ELF header names does not exist";
  }
  return SpawnError("cannot start '" + argv_[0] + "'", number, std::move(why));
}

Child Command::launch(const posix_spawn_file_actions_t& actions) const {
  pid_t pid = -1;
  const int failure = ::posix_spawn(&pid, program_.c_str(), &actions, &attributes_, argv_pointers_.data(),
                                    env_pointers_.data());
  if (failure != 0) throw error(failure);
  Fd pidfd = open_pidfd(pid);
  if (!pidfd) {
    const int reason = errno;
    ::kill(-pid, SIGKILL);
    reap(pid);
    throw error(reason);
  }
  return Child(pid, std::move(pidfd));
}

Child Command::start() const {
  if (ready_) return launch(ready_->list);
  Actions actions;
  Pipe pipes[3];
  for (int i = 0; i < 3; ++i) {
    int child_end = -1;
    if (stdio_[i].kind == Stdio::Kind::pipe) {
      std::optional<Pipe> pipe = make_pipe();
      if (!pipe) throw error(errno);
      pipes[i] = std::move(*pipe);
      make_non_blocking(i == 0 ? pipes[i].write : pipes[i].read);
      child_end = i == 0 ? pipes[i].read.get() : pipes[i].write.get();
    }
    connect(actions, i, stdio_[i], child_end);
  }
  if (cwd_) Actions::check(posix_spawn_file_actions_addchdir_np(&actions.list, cwd_->c_str()));
  Child child = launch(actions.list);
  child.in = std::move(pipes[0].write);
  child.out = std::move(pipes[1].read);
  child.err = std::move(pipes[2].read);
  return child;
}

Child spawn(const SpawnOptions& options) {
  return Command(options).start();
}

}  // namespace tare::process
