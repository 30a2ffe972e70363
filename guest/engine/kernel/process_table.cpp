#include "engine/kernel/process_table.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "engine/kernel/program.hpp"
#include "engine/kernel/trace.hpp"
#include "engine/kernel/vm.hpp"

namespace tare::kernel {
namespace {

constexpr std::size_t max_argument = 128 << 10;
constexpr std::size_t max_arguments = 2 << 20;

Result<void> check_arguments(const SpawnRequest& request) {
  if (request.argv.empty()) return Errno{EINVAL};
  std::size_t total = 0;
  bool too_long = false;
  bool has_nul = request.file.find('\0') != std::string::npos;
  const auto count = [&](std::size_t size) {
    total += size + 1;
    too_long = too_long || size >= max_argument;
  };
  for (const std::string& argument : request.argv) {
    count(argument.size());
    has_nul = has_nul || argument.find('\0') != std::string::npos;
  }
  for (const auto& [name, value] : request.env) {
    count(name.size() + 1 + value.size());
    has_nul = has_nul || name.find('\0') != std::string::npos || value.find('\0') != std::string::npos;
  }
  if (has_nul) return Errno{EINVAL};
  if (too_long || total > max_arguments) return Errno{E2BIG};
  return {};
}

}  // namespace

ProcessTable::ProcessTable(Vm& vm, std::shared_ptr<Runner> runner) : vm_(vm), runner_(std::move(runner)) {}
ProcessTable::~ProcessTable() = default;

Result<void> ProcessTable::may_create(const std::shared_ptr<Process>& parent,
                                      const SpawnRequest& request) const {
  if (parent && vm_.permissions().child_process == Permission::deny) {
    vm_.counters().refused(Refusal::child_process_permission);
    return Errno{EACCES};
  }
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::shut) return Errno{EPERM};
  }
  return check_arguments(request);
}

Result<ProcessTable::Descriptions> ProcessTable::open_stdio(const std::shared_ptr<Process>& parent,
                                                            SpawnRequest& request) const {
  if (request.stdio.size() > vm_.limits().open_files) return Errno{EMFILE};
  Descriptions descriptions(request.stdio.size());
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    StdioEntry& entry = request.stdio[i];
    if (entry.kind == StdioEntry::Kind::ignore) {
      descriptions[i] = vm_.files().open_null();
    } else if (entry.kind == StdioEntry::Kind::description) {
      descriptions[i] = std::move(entry.description);
    } else if (entry.kind == StdioEntry::Kind::inherit) {
      if (!parent) return Errno{EBADF};
      auto inherited = parent->fds().get(entry.fd);
      if (!inherited.ok()) return inherited.failure();
      descriptions[i] = *std::move(inherited);
    }
  }
  return descriptions;
}

Result<std::shared_ptr<Process>> ProcessTable::create(const std::shared_ptr<Process>& parent,
                                                      SpawnRequest request) {
  const Stopwatch whole(vm_.trace());
  if (const auto may = may_create(parent, request); !may.ok()) return may.failure();
  const auto descriptions = open_stdio(parent, request);
  if (!descriptions.ok()) return descriptions.failure();

  Origin origin = parent ? parent->origin() : Origin{};
  std::string cwd(origin.cwd);
  if (!request.cwd.empty() && request.cwd != cwd) {
    auto there = vm_.files().real_directory(origin, request.cwd);
    if (!there.ok()) return there.failure();
    cwd = *std::move(there);
  }
  origin.cwd = cwd;
  if (vm_.permissions().env == Permission::deny) request.env.clear();
  if (parent && parent->attachment() && !request.attachment)
    request.attachment = parent->attachment()->for_child();
  const auto path = request.env.find("PATH");
  const std::string file = request.file.empty() ? request.argv.front() : request.file;
  auto start = resolve_program(vm_.files(), origin, file, std::move(request.argv),
                               path == request.env.end() ? default_search_path : path->second);
  if (!start.ok()) return start.failure();

  auto made = insert(parent, {.pid = 0,
                              .ppid = parent ? parent->pid() : 1,
                              .vm = vm_.shared_from_this(),
                              .program = start->program,
                              .argv = std::move(start->argv),
                              .env = std::move(request.env),
                              .cwd = std::move(cwd),
                              .umask = origin.umask,
                              .run_time = request.run_time,
                              .attachment = std::move(request.attachment),
                              .on_exit = std::move(request.on_exit)});
  if (!made.ok()) return made;
  for (std::size_t i = 0; i < descriptions->size(); ++i) {
    if ((*descriptions)[i]) (void)(*made)->fds().set(static_cast<int>(i), (*descriptions)[i]);
  }
  if (const auto started = runner_->start(*made); !started.ok()) {
    take_back(*made);
    return started.failure();
  }
  whole.record(parent ? Stage::child_process_spawn_and_start_execution : Stage::kernel_spawn_process);
  return made;
}

Result<std::shared_ptr<Process>> ProcessTable::insert(const std::shared_ptr<Process>& parent,
                                                      Process::Start start) {
  const Stopwatch registering(vm_.trace());
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::shut) return Errno{EPERM};
  // A process that is to end makes no more: otherwise a fork bomb outruns the killing of its tree.
  if (parent && (parent->kill_requested() || parent->state() == Process::State::zombie)) return Errno{EINTR};
  if (processes_.size() >= std::min(vm_.limits().processes, max_processes)) {
    vm_.counters().refused(Refusal::process_limit);
    return Errno{EAGAIN};
  }
  start.pid = free_pid();
  auto process = std::make_shared<Process>(std::move(start));
  processes_.emplace(process->pid(), process);
  vm_.files().begin_writer(process->pid());
  if (parent) parent->children_.insert(process->pid());
  ++live_;
  vm_.counters().processes_started.fetch_add(1);
  if (parent) registering.record(Stage::child_process_register);
  return process;
}

int ProcessTable::free_pid() {
  while (processes_.contains(next_pid_)) next_pid_ = next_pid_ == max_pid ? 2 : next_pid_ + 1;
  const int pid = next_pid_;
  next_pid_ = pid == max_pid ? 2 : pid + 1;
  return pid;
}

void ProcessTable::take_back(const std::shared_ptr<Process>& process) {
  {
    const std::lock_guard lock(mutex_);
    processes_.erase(process->pid());
    if (const auto parent = processes_.find(process->ppid()); parent != processes_.end()) {
      parent->second->children_.erase(process->pid());
    }
    --live_;
    vm_.counters().processes_started.fetch_sub(1);
    ended_.notify_all();
  }
  process->exit_posted_.store(true);
  process->fds().close_all();
}

void ProcessTable::ended(Process& process, const Exit& exit, const Stopwatch& cleanup) {
  const Stopwatch reaping(vm_.trace());
  std::vector<std::shared_ptr<Process>> gone;  // go after the lock
  std::shared_ptr<Process> parent;
  Process::ExitCallback on_exit;
  {
    const std::lock_guard lock(mutex_);
    process.state_.store(Process::State::zombie);
    --live_;
    ++ending_;
    for (const int pid : process.children_) {
      const auto child = processes_.find(pid);
      child->second->ppid_.store(1);
      if (child->second->state() != Process::State::zombie) continue;
      gone.push_back(std::move(child->second));
      processes_.erase(child);
    }
    process.children_.clear();
    on_exit = std::exchange(process.on_exit_, nullptr);
    if (process.ppid() == 1) {
      const auto self = processes_.find(process.pid());
      gone.push_back(std::move(self->second));
      processes_.erase(self);
    } else {
      parent = processes_.at(process.ppid());
    }
    vm_.counters().processes_ended.fetch_add(1);
  }
  // Before anybody is told: who has heard of the end finds its stages counted.
  if (process.is_child()) {
    cleanup.record(Stage::child_process_exit_cleanup);
  } else {
    reaping.record(Stage::process_exit_cleanup_wait_and_reap);
    cleanup.record(Stage::process_exit_cleanup);
  }
  if (parent) parent->child_ended();
  if (on_exit) on_exit(process.pid(), exit);
  on_exit = nullptr;
  const std::lock_guard lock(mutex_);
  --ending_;
  ended_.notify_all();
}

Result<std::optional<Reaped>> ProcessTable::wait(Process& parent, std::optional<int> pid, Block block) {
  for (;;) {
    const Wait::Ticket ticket = parent.wait()->ticket();
    {
      std::shared_ptr<Process> gone;  // goes after the lock
      const std::lock_guard lock(mutex_);
      bool has_child = false;
      for (const int child_pid : parent.children_) {
        if (pid && *pid != child_pid) continue;
        has_child = true;
        const auto child = processes_.find(child_pid);
        if (child->second->state() != Process::State::zombie) continue;
        gone = std::move(child->second);
        processes_.erase(child);
        parent.children_.erase(child_pid);
        return std::optional(Reaped{gone->pid(), *gone->exit()});
      }
      if (!has_child) return Errno{ECHILD};
    }
    if (block == Block::no) return std::optional<Reaped>();
    if (const auto slept = parent.wait()->block(ticket); !slept.ok()) return slept.failure();
  }
}

std::shared_ptr<Process> ProcessTable::find(int pid) const {
  const std::lock_guard lock(mutex_);
  const auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : found->second;
}

Result<void> ProcessTable::kill(int pid, int signal, const std::string& reason) {
  if (signal < 0 || signal > 64) return Errno{EINVAL};
  if (pid == 1) {
    if (signal == SIGKILL) return Errno{EPERM};
    return {};
  }
  const auto process = find(pid);
  if (!process) return Errno{ESRCH};
  return process->signal(signal, reason);
}

std::size_t ProcessTable::kill_tree(int pid, const std::string& reason) {
  std::vector<std::shared_ptr<Process>> killed;
  {
    // All are marked at one moment, so that none makes another in between.
    const std::lock_guard lock(mutex_);
    std::vector<int> left{pid};
    while (!left.empty()) {
      const auto found = processes_.find(left.back());
      left.pop_back();
      if (found == processes_.end()) continue;
      const auto& process = found->second;
      left.insert(left.end(), process->children_.begin(), process->children_.end());
      if (process->request_kill(SIGKILL, reason)) killed.push_back(process);
    }
  }
  for (const auto& process : killed) process->deliver_kill();
  return killed.size();
}

std::size_t ProcessTable::shut_down(const std::string& reason) {
  std::vector<std::shared_ptr<Process>> killed;
  std::size_t lived = 0;
  {
    const std::lock_guard lock(mutex_);
    phase_ = Phase::shut;
    lived = live_;
    for (const auto& [pid, process] : processes_) {
      if (process->request_kill(SIGKILL, reason)) killed.push_back(process);
    }
  }
  for (const auto& process : killed) process->deliver_kill();
  return lived;
}

std::size_t ProcessTable::count() const {
  const std::lock_guard lock(mutex_);
  return processes_.size();
}

bool ProcessTable::wait_until_empty(Instant deadline) {
  std::unique_lock lock(mutex_);
  return ended_.wait_until(lock, deadline, [&] { return live_ == 0 && ending_ == 0; });
}

}  // namespace tare::kernel
