#include "guest_run.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/fd.hpp"
#include "base/file.hpp"
#include "base/flag.hpp"
#include "base/text.hpp"
#include "guest_mounts.hpp"
#include "guest_recordings.hpp"
#include "protocol/frame.hpp"
#include "runtime/guest/engine.hpp"

extern char** environ;

namespace tare::cli {
namespace {

using guest::Access;
using guest::Execution;
using guest::Exit;

constexpr std::size_t input_piece = std::size_t{64} << 10;
constexpr const char* home = "/root";
constexpr int exit_broken_pipe = 128 + SIGPIPE;
constexpr int exit_lost = 125;  // the engine, or files that could not be written back
constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;
constexpr WholeRange memory_range{16, 65536};
constexpr WholeRange files_range{1, 65536};
constexpr double longest_timeout = 86'400;

Error usage(const std::string& what, std::string hint = "see `tare guest run --help`") {
  return Error(ErrorCode::usage, what, "", std::move(hint));
}

struct Permission {
  const char* name;
  Access guest::Permissions::* member;
};
constexpr Permission permissions[] = {{"fs", &guest::Permissions::fs},
                                      {"network", &guest::Permissions::network},
                                      {"childProcess", &guest::Permissions::child_process},
                                      {"env", &guest::Permissions::env}};

void set_permissions(guest::Permissions& all, std::string_view flag, const std::string& list, Access access) {
  for (const std::string& name : text::split(list, ',')) {
    bool known = false;
    std::vector<std::string> names;
    for (const Permission& permission : permissions) {
      names.emplace_back(permission.name);
      if (name != permission.name && name != "all") continue;
      all.*permission.member = access;
      known = true;
    }
    if (known) continue;
    const auto near = text::did_you_mean(name, names);
    throw Error(ErrorCode::usage, fmt::format("{} has no permission '{}'", flag, name),
                "known: " + text::join(names, ", ") + ", all",
                near ? fmt::format("did you mean '{}'?", *near) : "");
  }
}

/// Of the flags: what the guest may do. Of the host it sees nothing by files or processes of its machine.
guest::Permissions permissions_of(const GuestRunFlags& flags) {
  guest::Permissions all;
  all.fs = Access::allow;
  all.child_process = Access::allow;
  if (flags.allow) set_permissions(all, "--allow", *flags.allow, Access::allow);
  if (flags.deny) set_permissions(all, "--deny", *flags.deny, Access::deny);
  return all;
}

std::map<std::string, std::string> whole_environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && equals > 0)
      all.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return all;
}

std::map<std::string, std::string> environment_of(const guest::Permissions& permissions) {
  std::map<std::string, std::string> env;
  if (permissions.env == Access::allow) env = whole_environment();
  const char* language = std::getenv("LANG");
  if (language != nullptr) env["LANG"] = language;
  env["PATH"] = "/usr/bin:/bin";
  env["HOME"] = home;
  return env;
}

std::chrono::milliseconds timeout_of(const std::string& text) {
  const auto seconds = text::to_double(text);
  if (!seconds || !(*seconds > 0) || *seconds > longest_timeout)
    throw usage(fmt::format("--timeout must be a number of seconds above 0, at most {}, got {}",
                            longest_timeout, text));
  return std::chrono::milliseconds(std::max<long>(1, std::lround(*seconds * 1000)));
}

guest::Library library_of(const std::string& text) {
  guest::Library library{};
  if (!boost::describe::enum_from_string(text.c_str(), library))
    throw usage(fmt::format("--library must be small, modules or large, got {}", text));
  return library;
}

std::string read_stdin() {
  std::string all;
  char piece[16384];
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(ErrorCode::input, "cannot read the script from stdin", errno_text(errno));
    if (n == 0) return all;
    all.append(piece, static_cast<std::size_t>(n));
  }
}

/// What the guest runs, and the file that has to be there for it.
struct Program {
  std::vector<std::string> argv{"node"};
  std::string path;  ///< in the machine; empty without a file
  std::string content;
  bool reads_stdin = true;  ///< the guest's stdin is this process's
};

Program program_of(const GuestRunFlags& flags, const std::vector<guest::Mount>& mounts) {
  Program program;
  auto rest = flags.words.begin();
  if (flags.code) {
    program.argv.insert(program.argv.end(), {"-e", *flags.code});
    // Else Node would take it for an option of its own.
    if (rest != flags.words.end() && rest->starts_with("-")) program.argv.emplace_back("--");
  } else if (rest == flags.words.end()) {
    throw usage("there is nothing to run", "name a file, - for stdin, or -e CODE");
  } else if (const std::string file = *rest++; file == "-") {
    program.path = std::string(home) + "/stdin.js";
    program.content = read_stdin();
    program.reads_stdin = false;
  } else if (const auto mounted = path_in(mounts, file)) {
    program.argv.push_back(*mounted);
  } else {
    program.path = (std::filesystem::path(home) / std::filesystem::path(file).filename()).string();
    program.content = file::read(file, guest::payload_limit - 8192);
  }
  if (!program.path.empty()) program.argv.push_back(program.path);
  program.argv.insert(program.argv.end(), rest, flags.words.end());
  return program;
}

/// Forwards what comes to this process on to the guest until it is told to stop: signals, and stdin from a
/// thread of its own, as a guest that does not read would hold up the signals.
class Forwarder {
 public:
  Forwarder(Execution& guest, int signals, bool with_stdin)
      : guest_(guest), stop_(::eventfd(0, EFD_CLOEXEC)) {
    if (!stop_) throw Error(ErrorCode::failed, "cannot run the guest", errno_text(errno));
    if (!with_stdin) guest_.close_stdin();
    signal_thread_ = std::thread([this, signals] { forward_signals(signals); });
    if (with_stdin) input_thread_ = std::thread([this] { forward_input(); });
  }
  ~Forwarder() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
    signal_thread_.join();
    if (input_thread_.joinable()) input_thread_.join();
  }
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

 private:
  /// False when it is time to stop.
  bool wait_for(int fd) const {
    pollfd entries[] = {{stop_.get(), POLLIN, 0}, {fd, POLLIN, 0}};
    while (::poll(entries, 2, -1) < 0 && errno == EINTR) {
    }
    return entries[0].revents == 0;
  }

  /// The second SIGINT kills.
  void forward_signals(int signals) {
    int interrupts = 0;
    while (wait_for(signals)) {
      signalfd_siginfo info{};
      if (::read(signals, &info, sizeof info) != sizeof info) return;
      const int number = static_cast<int>(info.ssi_signo);
      const bool impatient = number == SIGINT && ++interrupts > 1;
      try {
        guest_.kill(impatient ? "SIGKILL" : guest::signal_name(number).value_or("SIGTERM"));
      } catch (const Error&) {
        return;  // no engine: the guest has ended
      }
    }
  }

  void forward_input() {
    std::string piece(input_piece, '\0');
    while (wait_for(STDIN_FILENO)) {
      const ssize_t n = ::read(STDIN_FILENO, piece.data(), piece.size());
      if (n < 0 && errno == EINTR) continue;
      try {
        if (n <= 0) guest_.close_stdin();
        if (n <= 0 || !guest_.write_stdin(std::string_view(piece).substr(0, static_cast<std::size_t>(n))))
          return;
      } catch (const Error&) {
        return;
      }
    }
  }

  Execution& guest_;
  Fd stop_;
  std::thread signal_thread_;
  std::thread input_thread_;
};

/// Signals that this process is to hand on; they are blocked in all threads that start later, too.
Fd block_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&set, number);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  Fd fd(::signalfd(-1, &set, SFD_CLOEXEC));
  if (!fd) throw Error(ErrorCode::failed, "cannot run the guest", errno_text(errno));
  return fd;
}

/// False when nobody reads any more.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {  // a terminal that somebody made non-blocking
      pollfd entry{fd, POLLOUT, 0};
      ::poll(&entry, 1, -1);
      continue;
    }
    if (n < 0 && errno == EPIPE) return false;
    if (n < 0) throw Error(ErrorCode::failed, "cannot write the guest's output", errno_text(errno));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Nothing when the reader of the output is gone, and the guest was stopped for that.
std::optional<Exit> follow(Execution& guest) {
  for (;;) {
    const auto event = guest.poll_event();
    if (const auto* ended = std::get_if<guest::Ended>(&*event)) return ended->exit;
    const auto* out = std::get_if<guest::Stdout>(&*event);
    const bool read = out != nullptr ? write_all(STDOUT_FILENO, out->bytes)
                                     : write_all(STDERR_FILENO, std::get<guest::Stderr>(*event).bytes);
    if (read) continue;
    guest.kill();
    guest.wait();
    return std::nullopt;
  }
}

/// "memory: 128 MB", and the flag that gives it more.
struct LimitText {
  std::string reason;
  std::string hint;
};

LimitText limit_text(const Exit& exit, const GuestRunFlags& flags) {
  using namespace guest;
  const std::string detail = exit.detail.value_or("");
  if (exit.is(reason::memory) || exit.is(reason::array_buffer)) {
    const std::string limit = flags.memory ? *flags.memory + " MB" : detail;
    return {limit.empty() ? "memory" : "memory: " + limit, "--memory gives it more"};
  }
  if (exit.is(reason::wall_time))
    return {flags.timeout ? fmt::format("time: {} s", *flags.timeout) : "time", "--timeout gives it more"};
  const std::string name = exit.reason.value_or("");
  return {detail.empty() ? name : name + ": " + detail, ""};
}

/// One line about an end that the guest itself did not choose, and the exit code.
int report(const Exit& exit, const GuestRunFlags& flags, Context& context) {
  if (exit.is(guest::reason::refused)) {
    complain(context, Error(ErrorCode::failed, "the guest was refused", exit.detail.value_or(""),
                            flags.cwd ? "--cwd names a folder of the guest's machine" : ""));
  } else if (exit.is(guest::reason::lost)) {
    complain(context, Error(ErrorCode::failed, exit.detail.value_or("the guest was lost")));
  } else if (exit.reason && !exit.is(guest::reason::killed)) {
    const LimitText limit = limit_text(exit, flags);
    complain(context, Error(ErrorCode::failed, "the guest was stopped", limit.reason, limit.hint));
  }
  for (const std::string& problem : exit.sync_problems)
    context.err.write("tare: " + text::one_line(problem) + "\n");
  // Its own code would say that all is well.
  return exit.files_lost > 0 ? exit_lost : exit.shell_code();
}

}  // namespace

namespace {

/// Children that outlived the guest end with its machine, and what they wrote comes back then.
void add_left_over(guest::Vm& vm, Exit& exit) {
  try {
    const guest::Vm::Disposed left = vm.dispose();
    // What could not be written back before was tried once more.
    exit.files_lost = left.files_lost;
    for (const std::string& problem : left.sync_problems) {
      const auto known = std::find(exit.sync_problems.begin(), exit.sync_problems.end(), problem);
      if (known == exit.sync_problems.end()) exit.sync_problems.push_back(problem);
    }
  } catch (const Error& error) {
    exit.sync_problems.emplace_back(error.what());
  }
}

}  // namespace

int guest_run(const GuestRunFlags& flags, Context& context) {
  guest::VmOptions machine;
  machine.permissions = permissions_of(flags);
  machine.env = environment_of(machine.permissions);
  machine.permissions.env = Access::allow;  // what there is to see has been chosen already
  guest::SpawnOptions spawn;
  spawn.stdio = guest::Stdio::pipe;
  if (flags.timeout) spawn.timeout = timeout_of(*flags.timeout);
  guest::EngineOptions options;
  if (flags.memory) {
    const auto bytes =
        static_cast<std::uint64_t>(whole_number("--memory", *flags.memory, memory_range)) * megabyte;
    machine.limits.memory_bytes = bytes;
    machine.limits.array_buffer_bytes = bytes;
    // Room for both, else the engine's own limit would come first.
    options.memory_limit_bytes = std::max(options.memory_limit_bytes, 3 * bytes);
  }
  if (flags.files) {
    const auto bytes =
        static_cast<std::uint64_t>(whole_number("--files", *flags.files, files_range)) * megabyte;
    machine.limits.file_bytes = bytes;
    options.memory_limit_bytes += bytes;
  }
  options.pool = flags.pool ? static_cast<std::uint32_t>(whole_number("--pool", *flags.pool, pool_range)) : 0;
  if (flags.library) options.library = library_of(*flags.library);
  options.network = machine.permissions.network;
  options.log = [&context](guest::Level level, const std::string& text) {
    if (level >= guest::Level::warning) context.err.write("tare: " + text::one_line(text) + "\n");
  };
  for (const std::string& text : flags.mounts) machine.mounts.push_back(mount_of(text));
  add_roots(options, machine.mounts);
  spawn.cwd = flags.cwd;
  const Recordings recordings(flags);
  recordings.ask(options);
  recordings.ask(spawn);
  const Program program = program_of(flags, machine.mounts);
  spawn.argv = program.argv;

  const Fd signals = block_signals();
  guest::Engine engine = guest::Engine::start(std::move(options));
  guest::Vm vm = engine.create_vm(machine);
  if (!program.path.empty()) vm.write_file(program.path, program.content);
  Execution guest = vm.spawn(spawn);
  std::optional<Exit> exit;
  {
    const Forwarder forwarder(guest, signals.get(), program.reads_stdin);
    exit = follow(guest);
  }
  recordings.write(engine, guest, context);
  if (!exit) return exit_broken_pipe;
  if (!machine.mounts.empty() && !exit->is(guest::reason::lost)) add_left_over(vm, *exit);
  return report(*exit, flags, context);
}

}  // namespace tare::cli
