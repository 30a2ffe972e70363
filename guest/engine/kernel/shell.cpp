#include "engine/kernel/shell.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>

#include "engine/kernel/pipe.hpp"
#include "engine/kernel/shell_state.hpp"
#include "engine/kernel/vm.hpp"

namespace tare::kernel {
namespace shell {
namespace {

/// A command of a pipeline that is about to run.
struct Stage {
  const Command* command = nullptr;
  std::vector<std::string> arguments;
  Streams streams;
  std::optional<int> status;  ///< set when it ended, or never began
  std::shared_ptr<Process> child;
};

class Runtime {
 public:
  explicit Runtime(const std::shared_ptr<Process>& process) : process_(process) {
    state_.pid = process->pid();
    state_.cwd = process->cwd();
    for (const auto& [name, value] : process->env()) {
      state_.variables[name] = {value, State::Variable::Scope::exported};
    }
    for (int fd = 0; fd < 3; ++fd) {
      if (auto stream = process->fds().get(fd); stream.ok()) streams_.at(fd) = *std::move(stream);
    }
  }

  Exit run();

 private:
  bool killed() const { return process_->kill_requested(); }
  Origin origin() const {
    Origin origin = process_->origin();
    origin.cwd = state_.cwd;
    return origin;
  }

  std::optional<std::string> read_script();
  std::optional<std::string> read_stdin();
  Exit run_script(const Script& script);
  void run_pipeline(const Pipeline& pipeline);
  bool redirect(Stage& stage);
  bool redirect_to_file(Stage& stage, const Redirect& redirect);
  void start(Stage& stage, State& state);
  void run_inside(Stage& stage, State& state);
  void assign(const Command& command);
  std::optional<Exit> run_as_last(const Pipeline& pipeline);
  void report(const Exit& exit);
  Exit stand_in_for(const std::shared_ptr<Process>& child);
  static int status_of(const Exit& exit) { return exit.signal ? 128 + *exit.signal : exit.code.value_or(0); }

  const std::shared_ptr<Process> process_;
  State state_;
  Streams streams_;
};

std::optional<std::string> Runtime::read_stdin() {
  std::string script;
  std::array<std::byte, 4096> buffer;
  while (streams_[0]) {
    const auto count = read_blocking(process_->wait(), *streams_[0], buffer);
    if (!count.ok() || *count == 0) break;
    script.append(reinterpret_cast<const char*>(buffer.data()), *count);
  }
  return script;
}

// sh [-c COMMAND [NAME [ARG...]]] | sh FILE [ARG...] | sh
std::optional<std::string> Runtime::read_script() {
  const auto& argv = process_->argv();
  state_.name = argv.front();
  const auto rest = [&](std::size_t from) {
    if (argv.size() > from)
      state_.parameters.assign(argv.begin() + static_cast<std::ptrdiff_t>(from), argv.end());
  };
  if (argv.size() < 2) return read_stdin();
  if (argv[1] == "-c") {
    if (argv.size() < 3) {
      complain(*process_, state_, streams_, 0, "-c requires an argument");
      return std::nullopt;
    }
    if (argv.size() > 3) state_.name = argv[3];
    rest(4);
    return argv[2];
  }
  if (argv[1].starts_with("-")) {
    complain(*process_, state_, streams_, 0, fmt::format("Illegal option {}", argv[1]));
    return std::nullopt;
  }
  auto file = process_->vm()->files().read_file(process_->origin(), argv[1]);
  if (!file.ok()) {
    const char* why = file.error() == ENOENT ? "No such file" : ::strerrordesc_np(file.error());
    complain(*process_, state_, streams_, 0, fmt::format("cannot open {}: {}", argv[1], why));
    return std::nullopt;
  }
  state_.name = argv[1];
  rest(2);
  return *std::move(file);
}

Exit Runtime::run() {
  const auto text = read_script();
  if (!text) return Exit::with_code(2);
  const auto parsed = parse(*text);
  if (const auto* error = std::get_if<SyntaxError>(&parsed)) {
    complain(*process_, state_, streams_, error->line, "Syntax error: " + error->message);
    return Exit::with_code(2);
  }
  return run_script(std::get<Script>(parsed));
}

Exit Runtime::run_script(const Script& script) {
  for (std::size_t i = 0; i < script.size() && !killed(); ++i) {
    const Pipeline& pipeline = script[i];
    if (pipeline.when == Pipeline::When::after_success && state_.status != 0) continue;
    if (pipeline.when == Pipeline::When::after_failure && state_.status == 0) continue;
    if (i + 1 == script.size()) {
      if (auto exit = run_as_last(pipeline)) return *exit;
    }
    run_pipeline(pipeline);
    if (state_.flow == State::Flow::exit) break;
  }
  return Exit::with_code(state_.status);
}

void Runtime::assign(const Command& command) {
  for (const auto& [name, word] : command.assignments) state_.set(name, state_.text(word));
}

bool Runtime::redirect_to_file(Stage& stage, const Redirect& redirect) {
  const std::string path = state_.text(redirect.target);
  const int flags = redirect.kind == Redirect::Kind::input    ? O_RDONLY
                    : redirect.kind == Redirect::Kind::append ? O_WRONLY | O_CREAT | O_APPEND
                                                              : O_WRONLY | O_CREAT | O_TRUNC;
  auto file = process_->vm()->files().open(origin(), path, flags);
  if (file.ok()) {
    stage.streams.at(redirect.fd) = *std::move(file);
    return true;
  }
  const bool input = redirect.kind == Redirect::Kind::input;
  const char* why = ::strerrordesc_np(file.error());
  if (file.error() == ENOENT) why = input ? "No such file" : "Directory nonexistent";
  complain(*process_, state_, streams_, stage.command->line,
           fmt::format("cannot {} {}: {}", input ? "open" : "create", path, why));
  stage.status = 2;
  return false;
}

bool Runtime::redirect(Stage& stage) {
  for (const Redirect& redirect : stage.command->redirects) {
    if (redirect.kind == Redirect::Kind::duplicate) {
      stage.streams.at(redirect.fd) = stage.streams.at(redirect.source_fd);
    } else if (!redirect_to_file(stage, redirect)) {
      return false;
    }
  }
  return true;
}

void Runtime::start(Stage& stage, State& state) {
  SpawnRequest request;
  request.argv = stage.arguments;
  request.env = state.environment();
  for (const auto& [name, word] : stage.command->assignments) request.env[name] = state.text(word);
  request.cwd = state.cwd;
  for (const auto& stream : stage.streams) {
    request.stdio.push_back(stream ? StdioEntry{StdioEntry::Kind::description, -1, stream}
                                   : StdioEntry{StdioEntry::Kind::closed, -1, nullptr});
  }
  auto child = process_->vm()->processes().create(process_, std::move(request));
  if (child.ok()) {
    stage.child = *std::move(child);
    return;
  }
  const std::string& name = stage.arguments.front();
  std::string message;
  switch (child.error()) {
    case ENOENT:
    case ENOTDIR:
      message = name + ": not found";
      stage.status = 127;
      break;
    case EAGAIN:
      message = "Cannot fork";
      stage.status = 2;
      break;
    default:
      message = fmt::format("{}: {}", name, ::strerrordesc_np(child.error()));
      stage.status = 126;
  }
  complain(*process_, state, stage.streams, stage.command->line, message);
}

void Runtime::run_inside(Stage& stage, State& state) {
  if (stage.arguments.empty()) {
    stage.status = 0;
    return;
  }
  stage.status =
      run_builtin({*process_, state, stage.arguments, stage.streams, stage.command->line}).value_or(0);
}

// Processes first, builtins after them: what a builtin writes has its reader by then. Every end of a pipe
// that the shell itself holds is let go as soon as the stage has it, or readers would wait for ever.
void Runtime::run_pipeline(const Pipeline& pipeline) {
  std::vector<Stage> stages(pipeline.commands.size());
  const bool alone = stages.size() == 1;
  std::shared_ptr<Description> from = streams_[0];
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Stage& stage = stages[i];
    stage.command = &pipeline.commands[i];
    stage.streams = {std::move(from), streams_[1], streams_[2]};
    if (i + 1 < stages.size()) {
      PipeEnds ends = make_pipe(process_->vm()->shared_counters());
      stage.streams[1] = std::move(ends.writer);
      from = std::move(ends.reader);
    }
    for (const Word& word : stage.command->words) {
      const auto fields = state_.fields(word);
      stage.arguments.insert(stage.arguments.end(), fields.begin(), fields.end());
    }
    if (!redirect(stage)) stage.streams = {};
    const bool inside = stage.arguments.empty() || is_builtin(stage.arguments.front());
    if (inside) {
      if (!alone) stage.streams[0] = nullptr;  // no builtin reads
    } else if (!stage.status) {
      start(stage, state_);
      stage.streams = {};
    }
  }
  for (Stage& stage : stages) {
    if (!stage.status && !stage.child) {
      State copy = alone ? State() : state_;
      if (alone && stage.arguments.empty()) assign(*stage.command);
      run_inside(stage, alone ? state_ : copy);
    }
    stage.streams = {};
  }
  for (Stage& stage : stages) {
    if (!stage.child) continue;
    const auto reaped =
        process_->vm()->processes().wait(*process_, stage.child->pid(), ProcessTable::Block::yes);
    if (!reaped.ok()) return;  // killed
    stage.status = status_of((*reaped)->exit);
    if (&stage == &stages.back()) report((*reaped)->exit);
  }
  state_.status = stages.back().status.value_or(0);
}

// "Killed" and the like, as a shell tells it of what it waited for.
void Runtime::report(const Exit& exit) {
  if (!exit.signal || *exit.signal == SIGINT || *exit.signal == SIGPIPE) return;
  const char* name = ::sigdescr_np(*exit.signal);
  write_text(*process_, streams_[2], fmt::format("{}\n", name == nullptr ? "Unknown signal" : name));
}

// What a shell does last it does by exec: the command takes its place, and gets its signals. Here the shell
// stays and stands in for it.
std::optional<Exit> Runtime::run_as_last(const Pipeline& pipeline) {
  if (pipeline.commands.size() != 1) return std::nullopt;
  Stage stage;
  stage.command = &pipeline.commands.front();
  stage.streams = streams_;
  for (const Word& word : stage.command->words) {
    const auto fields = state_.fields(word);
    stage.arguments.insert(stage.arguments.end(), fields.begin(), fields.end());
  }
  if (stage.arguments.empty() || is_builtin(stage.arguments.front())) return std::nullopt;
  if (redirect(stage)) start(stage, state_);
  if (!stage.child) return Exit::with_code(stage.status.value_or(0));
  stage.streams = {};
  streams_ = {};
  process_->fds().close_all();
  return stand_in_for(stage.child);
}

Exit Runtime::stand_in_for(const std::shared_ptr<Process>& child) {
  ProcessTable& processes = process_->vm()->processes();
  process_->set_signal_waker(process_->wait());
  for (int signal = 1; signal <= 31; ++signal) {
    (void)process_->set_disposition(signal, Process::Disposition::handled);
  }
  for (;;) {
    const Wait::Ticket ticket = process_->wait()->ticket();
    while (const auto signal = process_->take_signal()) {
      if (*signal != SIGCHLD) (void)child->signal(*signal);
    }
    const auto reaped = processes.wait(*process_, child->pid(), ProcessTable::Block::no);
    if (!reaped.ok()) return Exit::with_code(0);
    if (*reaped) return (*reaped)->exit;
    if (process_->wait()->block(ticket).ok()) continue;
    // Killed. Nobody else tells the child: a hook of on_kill might be gone before the killer comes to it.
    const int signal = process_->kill_signal().value_or(SIGKILL);
    (void)child->signal(signal);
    return Exit::by_signal(signal);
  }
}

}  // namespace
}  // namespace shell

Exit run_shell(const std::shared_ptr<Process>& process) {
  if (process->kill_requested()) return Exit::by_signal(*process->kill_signal());
  return shell::Runtime(process).run();
}

}  // namespace tare::kernel
