#include "runtime/guest/child.hpp"

#include <cerrno>
#include <csignal>
#include <future>
#include <spawn.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "protocol/frame.hpp"
#include "protocol/messages.hpp"

namespace tare::guest {
namespace {

constexpr std::size_t most_words = std::size_t{1} << 20;
constexpr std::size_t last_lines = 3;
constexpr std::size_t last_bytes = 400;

/// A file without a name that does not grow past its limit, whoever writes.
Fd make_log() {
  Fd log(::memfd_create("guest-engine-log", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!log || ::ftruncate(log.get(), most_words) != 0 || ::fcntl(log.get(), F_ADD_SEALS, F_SEAL_GROW) != 0)
    throw Error(ErrorCode::failed, "cannot start the guest engine", errno_text(errno));
  return log;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// posix_spawn's two bags of settings, and their ends.
class Settings {
 public:
  Settings() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~Settings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

}  // namespace

Child::Child(ChildOptions options) : said_(make_log()) {
  std::promise<pid_t> started;
  keeper_ = std::thread([&] {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);  // signals are for the client's own threads
    const pid_t pid = start(options);
    started.set_value(pid);
    if (pid > 0) reap();
  });
  const pid_t pid = started.get_future().get();
  if (pid > 0) return;
  keeper_.join();
  throw Error(ErrorCode::unavailable, "cannot start " + options.argv.front(), errno_text(-pid));
}

/// The pid, or minus the errno.
pid_t Child::start(const ChildOptions& options) {
  Settings settings;
  ::posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&settings.actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&settings.actions, said_.get(), STDERR_FILENO);
  if (options.control >= 0)
    ::posix_spawn_file_actions_adddup2(&settings.actions, options.control, control_fd);
  ::posix_spawn_file_actions_addclosefrom_np(&settings.actions,
                                             options.control >= 0 ? control_fd + 1 : STDERR_FILENO + 1);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setflags(&settings.attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  ::posix_spawnattr_setsigmask(&settings.attributes, &none);
  ::posix_spawnattr_setsigdefault(&settings.attributes, &all);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, options.argv.front().c_str(), &settings.actions, &settings.attributes,
                                  pointers(options.argv).data(), pointers(options.env).data());
  if (error == 0) pid_ = pid;
  return error == 0 ? pid : -error;
}

void Child::reap() {
  siginfo_t info{};
  // It stays a zombie, so that its number is its own, until nobody can try to kill it any more.
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  const std::lock_guard lock(mutex_);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = status;
  changed_.notify_all();
}

Child::~Child() {
  kill();
  keeper_.join();
}

std::optional<int> Child::wait(Nanoseconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [&] { return status_.has_value(); });
  return status_;
}

bool Child::alive() {
  const std::lock_guard lock(mutex_);
  return !status_;
}

void Child::kill() {
  const std::lock_guard lock(mutex_);
  if (!status_) ::kill(pid_, SIGKILL);
}

std::string Child::how_it_ended() {
  const std::lock_guard lock(mutex_);
  if (!status_) return "still running";
  if (WIFSIGNALED(*status_)) {
    const int number = WTERMSIG(*status_);
    return "killed by " + signal_name(number).value_or(fmt::format("signal {}", number));
  }
  return fmt::format("exited with code {}", WEXITSTATUS(*status_));
}

std::string Child::words() const {
  const off_t end = ::lseek(said_.get(), 0, SEEK_CUR);  // the position is shared with the one that writes
  if (end <= 0) return {};
  const off_t begin = std::max<off_t>(0, end - off_t{64 << 10});
  std::string words(static_cast<std::size_t>(end - begin), '\0');
  const ssize_t n = ::pread(said_.get(), words.data(), words.size(), begin);
  words.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return words;
}

std::string Child::last_words() const {
  return text::tail(words(), last_lines, last_bytes);
}

}  // namespace tare::guest
