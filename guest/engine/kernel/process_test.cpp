#include "engine/kernel/process.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>

#include "engine/kernel/kernel_testing.hpp"
#include "engine/kernel/pipe.hpp"

namespace tare::kernel {
namespace {

using testing::command;
using testing::Count;
using testing::Idle;
using testing::read_all;
using testing::soon;
using testing::stream;
using testing::Threads;
using Block = ProcessTable::Block;

/// Processes whose threads the test plays.
class Processes : public ::testing::Test {
 protected:
  void remake(Vm::Options options) { vm = Vm::create(options, clock, runner); }
  std::shared_ptr<Process> spawn(const std::shared_ptr<Process>& parent = nullptr) {
    auto made = table().create(parent, command({"node"}));
    EXPECT_TRUE(made.ok()) << strerrorname_np(made.error());
    return made.ok() ? *made : nullptr;
  }
  int spawn_error(const std::shared_ptr<Process>& parent, SpawnRequest request) {
    return table().create(parent, std::move(request)).error();
  }
  ProcessTable& table() { return vm->processes(); }

  SystemClock clock;
  std::shared_ptr<Idle> runner = std::make_shared<Idle>();
  std::shared_ptr<Vm> vm = Vm::create({.permissions = allow_all}, clock, runner);
};

TEST_F(Processes, begin_at_pid_2_below_the_vm) {
  const auto first = spawn();
  const auto child = spawn(first);
  EXPECT_EQ(first->pid(), 2);
  EXPECT_EQ(first->ppid(), 1);
  EXPECT_EQ(child->pid(), 3);
  EXPECT_EQ(child->ppid(), 2);
  EXPECT_EQ(table().count(), 2u);
  first->post_exit(Exit::with_code(0));
  child->post_exit(Exit::with_code(0));
}

TEST_F(Processes, are_zombies_until_waited_for) {
  const auto parent = spawn();
  const auto child = spawn(parent);
  EXPECT_EQ(table().wait(*parent, std::nullopt, Block::no)->has_value(), false);
  child->post_exit(Exit::with_code(7));
  EXPECT_EQ(child->state(), Process::State::zombie);
  EXPECT_TRUE(table().kill(child->pid(), SIGKILL).ok());
  EXPECT_EQ(table().wait(*parent, 99, Block::no).error(), ECHILD);
  const auto reaped = table().wait(*parent, std::nullopt, Block::no);
  EXPECT_EQ((*reaped)->pid, child->pid());
  EXPECT_EQ((*reaped)->exit, Exit::with_code(7));
  EXPECT_EQ(table().kill(child->pid(), 0).error(), ESRCH);
  EXPECT_EQ(table().wait(*parent, std::nullopt, Block::no).error(), ECHILD);
  parent->post_exit({});
}

TEST_F(Processes, of_the_engine_are_reaped_at_once_and_reported) {
  std::optional<Exit> seen;
  SpawnRequest request = command({"node"});
  request.on_exit = [&](int, const Exit& exit) { seen = exit; };
  const auto process = *table().create(nullptr, std::move(request));
  process->post_exit(Exit::with_code(300));
  EXPECT_EQ(seen, Exit::with_code(300 & 0xff));
  EXPECT_EQ(table().count(), 0u);
  process->post_exit(Exit::with_code(1));  // nothing more
  EXPECT_EQ(process->exit(), Exit::with_code(44));
}

TEST_F(Processes, orphans_are_adopted_and_reaped) {
  const auto parent = spawn();
  const auto alive = spawn(parent);
  const auto zombie = spawn(parent);
  zombie->post_exit({});
  parent->post_exit({});
  EXPECT_EQ(alive->ppid(), 1);
  EXPECT_EQ(table().count(), 1u);
  alive->post_exit({});
  EXPECT_EQ(table().count(), 0u);
}

TEST_F(Processes, parent_is_woken_when_a_child_ends) {
  const auto waker = std::make_shared<Count>();
  const auto parent = spawn();
  parent->set_signal_waker(waker);
  const auto child = spawn(parent);
  child->post_exit({});
  EXPECT_EQ(waker->times, 1);
  parent->post_exit({});
}

TEST_F(Processes, limit_is_eagain_and_zombies_count) {
  remake({.limits = {.processes = 3}, .permissions = allow_all});
  const auto parent = spawn();
  const auto child = spawn(parent);
  const auto zombie = spawn(parent);
  zombie->post_exit({});
  EXPECT_EQ(spawn_error(parent, command({"node"})), EAGAIN);
  EXPECT_EQ(vm->counters().refusals(Refusal::process_limit), 1u);
  EXPECT_TRUE(table().wait(*parent, std::nullopt, Block::no).ok());
  const auto fits = spawn(parent);
  for (const auto& each : {fits, child, parent}) each->post_exit({});
  EXPECT_EQ(table().count(), 0u);
}

TEST_F(Processes, permissions_hold_for_guests_and_not_for_the_engine) {
  remake({.permissions = {.fs = Permission::allow}});
  SpawnRequest request = command({"node"});
  request.env = {{"SECRET", "1"}};
  const auto parent = *table().create(nullptr, std::move(request));
  EXPECT_TRUE(parent->env().empty());
  EXPECT_EQ(spawn_error(parent, command({"node"})), EACCES);
  EXPECT_EQ(vm->counters().refusals(Refusal::child_process_permission), 1u);
  parent->post_exit({});
}

TEST_F(Processes, programs_are_found_as_by_execvp) {
  FileSystem& files = vm->files();
  const Origin all;
  ASSERT_TRUE(files.write_file(all, "/tmp/cli.js", "#!/usr/bin/env node\nhi", 0755).ok());
  ASSERT_TRUE(files.write_file(all, "/tmp/flag", "#! /usr/bin/node --x y\r\n", 0755).ok());
  ASSERT_TRUE(files.write_file(all, "/tmp/split", "#!/usr/bin/env -S node --a --b", 0755).ok());
  ASSERT_TRUE(files.write_file(all, "/tmp/script", "#!/bin/sh\ntrue", 0755).ok());
  ASSERT_TRUE(files.write_file(all, "/tmp/plain", "text", 0755).ok());
  ASSERT_TRUE(files.write_file(all, "/tmp/unset", "#!/bin/sh", 0644).ok());
  ASSERT_TRUE(files.write_file(all, "/tmp/bash", "#!/bin/bash", 0755).ok());
  ASSERT_TRUE(files.write_file(all, "/tmp/self", "#!/tmp/self", 0755).ok());
  ASSERT_TRUE(files.symlink(all, "/usr/bin/node", "/tmp/mynode").ok());
  const auto start = [&](std::vector<std::string> argv) -> std::string {
    SpawnRequest request = command(argv);
    request.env["PATH"] = "/none:/tmp";
    request.cwd = "/tmp";
    const auto made = table().create(nullptr, std::move(request));
    if (!made.ok()) return strerrorname_np(made.error());
    std::string text = (*made)->program() == Program::node ? "node:" : "shell:";
    for (const auto& argument : (*made)->argv()) text += " " + argument;
    (*made)->post_exit({});
    return text;
  };
  EXPECT_EQ(start({"node", "a"}), "node: node a");
  EXPECT_EQ(start({"/bin/sh", "-c", "x"}), "shell: /bin/sh -c x");
  EXPECT_EQ(start({"cli.js", "a"}), "node: node /tmp/cli.js a");
  EXPECT_EQ(start({"./cli.js"}), "node: node ./cli.js");
  EXPECT_EQ(start({"flag"}), "node: /usr/bin/node --x y /tmp/flag");
  EXPECT_EQ(start({"split", "c"}), "node: node --a --b /tmp/split c");
  EXPECT_EQ(start({"script"}), "shell: /bin/sh /tmp/script");
  EXPECT_EQ(start({"mynode"}), "node: mynode");
  EXPECT_EQ(start({"plain"}), "ENOEXEC");
  EXPECT_EQ(start({"unset"}), "EACCES");
  EXPECT_EQ(start({"/tmp"}), "EACCES");
  EXPECT_EQ(start({"bash"}), "ENOENT");
  EXPECT_EQ(start({"self"}), "ELOOP");
  EXPECT_EQ(start({"git"}), "ENOENT");
  EXPECT_EQ(start({"plain/x"}), "ENOTDIR");
}

TEST_F(Processes, create_refuses_bad_requests) {
  const auto parent = spawn();
  SpawnRequest request = command({"node"});
  request.cwd = "/none";
  EXPECT_EQ(spawn_error(parent, std::move(request)), ENOENT);
  request = command({"node"});
  request.cwd = "/usr/bin/node";
  EXPECT_EQ(spawn_error(parent, std::move(request)), ENOTDIR);
  request = command({"node"});
  request.stdio = {{StdioEntry::Kind::inherit, 9, nullptr}};
  EXPECT_EQ(spawn_error(parent, std::move(request)), EBADF);
  EXPECT_EQ(spawn_error(parent, command({})), EINVAL);
  EXPECT_EQ(spawn_error(parent, command({"node", std::string("a\0b", 3)})), EINVAL);
  EXPECT_EQ(spawn_error(parent, command({"node", std::string(128 << 10, 'x')})), E2BIG);
  EXPECT_EQ(spawn_error(parent, command(std::vector<std::string>(30, std::string(100'000, 'x')))), E2BIG);
  runner->answer = Errno{EAGAIN};
  EXPECT_EQ(spawn_error(parent, command({"node"})), EAGAIN);
  EXPECT_EQ(table().count(), 1u);
  EXPECT_EQ(table().wait(*parent, std::nullopt, Block::no).error(), ECHILD);
  parent->post_exit({});
  EXPECT_EQ(vm->counters().processes_started, 1u);
}

TEST_F(Processes, stdio_is_inherited_ignored_or_given) {
  auto ends = make_pipe(nullptr);
  SpawnRequest request = command({"node"});
  request.stdio = {{StdioEntry::Kind::ignore, -1, nullptr}, stream(std::move(ends.writer)), {}};
  request.stdio[2].kind = StdioEntry::Kind::closed;
  const auto parent = *table().create(nullptr, std::move(request));
  EXPECT_EQ((*parent->fds().get(0))->kind(), Description::Kind::null);
  EXPECT_EQ(parent->fds().get(2).error(), EBADF);
  request = command({"node"});
  request.stdio = {{StdioEntry::Kind::inherit, 1, nullptr}};
  const auto child = *table().create(parent, std::move(request));
  EXPECT_EQ(*parent->fds().get(1), *child->fds().get(0));
  parent->post_exit({});
  EXPECT_FALSE(ends.reader->readable());  // the child holds it still
  child->post_exit({});
  EXPECT_EQ(read_all(*ends.reader), "");
}

TEST_F(Processes, have_a_working_directory_and_a_umask) {
  const auto process = spawn();
  ASSERT_TRUE(vm->files().symlink({}, "/usr/bin", "/tmp/link").ok());
  EXPECT_TRUE(process->change_directory("/tmp/link").ok());
  EXPECT_EQ(process->cwd(), "/usr/bin");
  EXPECT_TRUE(process->change_directory("..").ok());
  EXPECT_EQ(process->cwd(), "/usr");
  EXPECT_EQ(process->change_directory("none").error(), ENOENT);
  EXPECT_EQ(process->set_umask(0777 | 01000), 022u);
  EXPECT_EQ(process->umask(), 0777u);
  EXPECT_EQ(*process->open("bin/node", O_RDONLY), 0);
  EXPECT_EQ((*process->pipe())[1], 2);
  process->post_exit({});
}

TEST_F(Processes, descriptors_are_the_lowest_free_up_to_the_limit) {
  remake({.limits = {.open_files = 4}, .permissions = allow_all});
  const auto process = spawn();
  FdTable& fds = process->fds();
  for (int fd = 0; fd < 4; ++fd) EXPECT_EQ(*fds.add(vm->files().open_null()), fd);
  EXPECT_EQ(fds.add(vm->files().open_null()).error(), EMFILE);
  EXPECT_EQ(process->pipe().error(), EMFILE);
  EXPECT_EQ(vm->counters().refusals(Refusal::open_file_limit), 2u);
  EXPECT_TRUE(fds.close(1).ok());
  EXPECT_EQ(fds.close(1).error(), EBADF);
  EXPECT_EQ(process->pipe().error(), EMFILE);
  EXPECT_EQ(*fds.dup(0), 1);
  EXPECT_EQ(*fds.dup2(0, 3), 3);
  EXPECT_EQ(fds.dup2(0, 4).error(), EBADF);
  EXPECT_EQ(fds.dup2(9, 0).error(), EBADF);
  EXPECT_EQ(fds.open_count(), 4u);
  process->post_exit({});
  EXPECT_EQ(fds.open_count(), 0u);
}

TEST_F(Processes, a_kill_is_sticky_and_decides_the_exit) {
  const auto process = spawn();
  EXPECT_TRUE(table().kill(process->pid(), SIGTERM, "asked to").ok());
  EXPECT_TRUE(process->kill_requested());
  EXPECT_TRUE(table().kill(process->pid(), SIGKILL).ok());
  int hooked = 0;
  process->on_kill([&](int signal) { hooked = signal; });
  EXPECT_EQ(hooked, SIGTERM);
  EXPECT_TRUE(process->wait()->interrupted());
  process->post_exit(Exit::with_code(0));
  EXPECT_EQ(process->exit(), Exit::by_signal(SIGTERM, "asked to"));
}

TEST_F(Processes, kill_hook_is_called_once_and_not_after_it_was_taken_away) {
  const auto process = spawn();
  int calls = 0;
  process->on_kill([&](int) { ++calls; });
  (void)process->signal(SIGKILL);
  (void)process->signal(SIGKILL);
  EXPECT_EQ(calls, 1);
  const auto other = spawn();
  other->on_kill([&](int) { ++calls; });
  other->on_kill(nullptr);
  (void)other->signal(SIGKILL);
  EXPECT_EQ(calls, 1);
  process->post_exit({});
  other->post_exit({});
}

TEST_F(Processes, handled_signals_are_pending_and_wake) {
  const auto waker = std::make_shared<Count>();
  const auto process = spawn();
  process->set_signal_waker(waker);
  EXPECT_EQ(process->set_disposition(SIGKILL, Process::Disposition::handled).error(), EINVAL);
  EXPECT_TRUE(process->set_disposition(SIGTERM, Process::Disposition::handled).ok());
  EXPECT_TRUE(process->set_disposition(SIGINT, Process::Disposition::handled).ok());
  EXPECT_TRUE(process->signal(SIGTERM).ok());
  EXPECT_TRUE(process->signal(SIGINT).ok());
  EXPECT_TRUE(process->signal(SIGWINCH).ok());
  EXPECT_TRUE(process->signal(0).ok());
  EXPECT_EQ(process->signal(65).error(), EINVAL);
  EXPECT_EQ(waker->times, 2);
  EXPECT_FALSE(process->kill_requested());
  EXPECT_EQ(process->take_signal(), SIGINT);
  EXPECT_EQ(process->take_signal(), SIGTERM);
  EXPECT_EQ(process->take_signal(), std::nullopt);
  EXPECT_TRUE(process->set_disposition(SIGTERM, Process::Disposition::standard).ok());
  EXPECT_TRUE(process->signal(SIGTERM).ok());
  EXPECT_EQ(process->kill_signal(), SIGTERM);
  process->post_exit({});
}

TEST_F(Processes, kill_knows_pid_1_and_who_is_not_there) {
  EXPECT_EQ(table().kill(2, SIGTERM).error(), ESRCH);
  EXPECT_EQ(table().kill(1, SIGKILL).error(), EPERM);
  EXPECT_TRUE(table().kill(1, 0).ok());
  EXPECT_EQ(table().kill(1, 99).error(), EINVAL);
}

TEST_F(Processes, kill_tree_takes_all_who_descend) {
  const auto top = spawn();
  const auto child = spawn(top);
  const auto grandchild = spawn(child);
  const auto other = spawn();
  EXPECT_EQ(table().kill_tree(top->pid(), "limit"), 3u);
  EXPECT_TRUE(grandchild->kill_requested());
  EXPECT_FALSE(other->kill_requested());
  EXPECT_EQ(spawn_error(grandchild, command({"node"})), EINTR);
  for (const auto& each : {top, child, grandchild, other}) each->post_exit({});
  EXPECT_EQ(grandchild->exit(), Exit::by_signal(SIGKILL, "limit"));
}

TEST_F(Processes, nothing_starts_in_a_disposed_vm) {
  const auto process = spawn();
  EXPECT_EQ(vm->dispose(), 1u);
  EXPECT_EQ(spawn_error(nullptr, command({"node"})), EPERM);
  EXPECT_FALSE(table().wait_until_empty(clock.now()));
  process->post_exit({});
  EXPECT_TRUE(table().wait_until_empty(soon()));
}

TEST_F(Processes, pids_wrap_and_are_not_reused_while_alive) {
  const auto long_lived = spawn();
  for (int i = 0; i < max_pid + 10; ++i) spawn()->post_exit({});
  const auto late = spawn();
  EXPECT_NE(late->pid(), long_lived->pid());
  EXPECT_LT(late->pid(), 100);
  late->post_exit({});
  long_lived->post_exit({});
}

}  // namespace
}  // namespace tare::kernel
