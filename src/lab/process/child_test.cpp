#include "lab/process/child.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include "base/file.hpp"
#include "lab/process/pidfd.hpp"
#include "lab/process/process_for_tests.hpp"
#include "lab/process/tree.hpp"

namespace tare::process {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

Exit run_to_end(const SpawnOptions& options) {
  Child child = spawn(options);
  const auto exit = child.wait(in(20s));
  EXPECT_TRUE(exit.has_value());
  return exit.value_or(Exit{});
}

std::size_t open_fds() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator{}));
}

SpawnError spawn_error(const SpawnOptions& options) {
  try {
    spawn(options);
  } catch (const SpawnError& error) {
    return error;
  }
  ADD_FAILURE() << "it started";
  return SpawnError("", 0, "");
}

TEST(Child, an_exit_code_is_told_from_a_signal) {
  const Exit seven = run_to_end(shell("exit 7"));
  EXPECT_EQ(seven.code, 7);
  EXPECT_EQ(seven.signal, std::nullopt);
  EXPECT_FALSE(seven.ok());
  EXPECT_EQ(describe(seven), "exit code 7");

  const Exit killed = run_to_end(shell("kill -KILL $$"));
  EXPECT_EQ(killed.code, std::nullopt);
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_FALSE(killed.ok());
  EXPECT_EQ(describe(killed), "killed by SIGKILL");

  // What a shell reports as 128 + 9 is still an exit code here.
  EXPECT_EQ(run_to_end(shell("exit 137")).code, 137);
  EXPECT_TRUE(run_to_end({.argv = {"true"}}).ok());
}

TEST(Child, a_status_that_somebody_else_took_is_a_failure_not_exit_0) {
  Child child = spawn({.argv = {"/bin/true"}});
  int status = 0;
  ASSERT_EQ(::waitpid(child.pid(), &status, 0), child.pid());
  const auto exit = child.wait(in(20s));
  ASSERT_TRUE(exit);
  EXPECT_FALSE(exit->ok());
  EXPECT_EQ(exit->code, std::nullopt);
  EXPECT_EQ(describe(*exit), "lost exit status");
}

TEST(Child, waiting_ends_at_the_deadline_and_may_go_on) {
  Child child = spawn({.argv = {"/bin/cat"}, .in = Stdio::pipe()});
  EXPECT_EQ(child.wait(Instant::min()), std::nullopt);
  EXPECT_EQ(child.wait(in(1ms)), std::nullopt);
  child.in.reset();
  EXPECT_TRUE(child.wait_exit(in(20s)));
  EXPECT_FALSE(is_alive(child.pid())) << "a zombie is not alive";
  ASSERT_TRUE(child.wait(in(20s)));
  EXPECT_EQ(child.wait(Instant::min())->code, 0) << "the same answer again";
}

TEST(Child, a_command_that_cannot_be_started_names_the_program_and_the_reason) {
  const SpawnError missing = spawn_error({.argv = {"/nowhere/nod"}});
  EXPECT_EQ(missing.line(), "tare: cannot start '/nowhere/nod' (No such file or directory)");
  EXPECT_EQ(missing.error_number(), ENOENT);
  EXPECT_EQ(missing.code(), ErrorCode::unavailable);
  EXPECT_FALSE(missing.refused());
  EXPECT_EQ(spawn_error({.argv = {"no-such-program-on-path"}}).error_number(), ENOENT);
  EXPECT_EQ(spawn_error({.argv = {""}}).error_number(), ENOENT);
  EXPECT_EQ(spawn_error({.argv = {"/etc/passwd"}}).line(),
            "tare: cannot start '/etc/passwd' (Permission denied)");
  EXPECT_EQ(spawn_error({.argv = {"/bin"}}).error_number(), EACCES);
  EXPECT_EQ(spawn_error({.argv = {"/bin/true"}, .cwd = "/nowhere"}).line(),
            "tare: cannot start '/bin/true' in '/nowhere' (No such file or directory)");
  EXPECT_EQ(spawn_error({.argv = {"/bin/true"}, .cwd = "/etc/passwd"}).error_number(), ENOTDIR);
  EXPECT_THROW(spawn({}), Error);
}

TEST(Child, a_script_without_its_interpreter_is_told_apart_from_a_missing_program) {
  const file::TemporaryFolder folder;
  const fs::path script = folder.path() / "script";
  std::ofstream(script) << "#!/nowhere/interpreter\n";
  fs::permissions(script, fs::perms::owner_all);
  EXPECT_THAT(spawn_error({.argv = {script.string()}}).line(), testing::HasSubstr("interpreter"));
}

TEST(Child, environment_folder_and_streams_are_what_was_asked_for) {
  const file::TemporaryFolder folder;
  const fs::path out = folder.path() / "out";
  const Fd file(::open(out.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  SpawnOptions options = shell("pwd; echo \"$A-$HOME\"; echo err >&2; wc -c");
  options.env_base = EnvBase::empty;
  options.env = {{"A", "b"}, {"PATH", "/bin:/usr/bin"}};
  options.cwd = folder.path().string();
  options.out = Stdio::descriptor(file.get());
  options.err = Stdio::descriptor(file.get());
  EXPECT_TRUE(run_to_end(options).ok());
  EXPECT_EQ(file::read(out), fs::canonical(folder.path()).string() + "\nb-\nerr\n0\n");
}

TEST(Child, an_added_variable_replaces_the_inherited_one) {
  ::setenv("TARE_TEST_VARIABLE", "parent", 1);
  SpawnOptions options = shell("test \"$TARE_TEST_VARIABLE\" = child && test -n \"$PATH\"");
  options.env = {{"TARE_TEST_VARIABLE", "child"}};
  EXPECT_TRUE(run_to_end(options).ok());
  options.argv[2] = "test \"$TARE_TEST_VARIABLE\" = parent";
  options.env.clear();
  EXPECT_TRUE(run_to_end(options).ok());
}

TEST(Child, starts_with_default_signals_and_none_blocked) {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before{};
  sigaction(SIGTERM, &ignore, &before);
  sigset_t block;
  sigset_t mask;
  sigemptyset(&block);
  sigaddset(&block, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &block, &mask);
  EXPECT_EQ(run_to_end(shell("kill -TERM $$; exit 3")).signal, SIGTERM);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  sigaction(SIGTERM, &before, nullptr);
}

TEST(Child, leads_its_own_process_group) {
  Child child = spawn({.argv = {"/bin/cat"}, .in = Stdio::pipe()});
  EXPECT_EQ(::getpgid(child.pid()), child.pid());
}

TEST(Child, the_end_of_its_scope_kills_the_group_and_reaps) {
  pid_t pid = 0;
  Fd grandchild;
  {
    SpawnOptions options = shell("sleep 1000 & echo $!; wait");
    options.out = Stdio::pipe();
    Child child = spawn(options);
    pid = child.pid();
    char text[32] = {};
    pollfd ready{child.out.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, 20000), 1);
    ASSERT_GT(::read(child.out.get(), text, sizeof text - 1), 0);
    grandchild = open_pidfd(std::atoi(text));
    ASSERT_TRUE(grandchild);
  }
  EXPECT_EQ(::kill(pid, 0), -1) << "reaped";
  pollfd gone{grandchild.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&gone, 1, 20000), 1) << "the grandchild lives on";
}

TEST(Child, nothing_is_left_open_after_a_thousand_spawns_of_every_kind) {
  const std::size_t before = open_fds();
  const Command all_pipes(
      {.argv = {"/bin/true"}, .in = Stdio::pipe(), .out = Stdio::pipe(), .err = Stdio::pipe()});
  const Command none({.argv = {"/bin/true"}});
  const Command missing({.argv = {"/nowhere/x"}, .in = Stdio::pipe(), .out = Stdio::pipe()});
  const std::size_t prepared = open_fds();
  for (int i = 0; i < 334; ++i) {
    ASSERT_TRUE(all_pipes.start().wait(in(20s)));
    ASSERT_TRUE(none.start().wait(in(20s)));
    ASSERT_THROW(missing.start(), SpawnError);
  }
  EXPECT_EQ(open_fds(), prepared);
  EXPECT_EQ(prepared, before + 3) << "one /dev/null each";
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  EXPECT_EQ(errno, ECHILD);
}

TEST(Child, a_process_without_standard_streams_can_still_spawn) {
  // In a fork, because closing 0, 1 and 2 of the test program would silence it.
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    for (int fd = 0; fd < 3; ++fd) ::close(fd);
    SpawnOptions options = shell("cat >&2; echo out");
    options.in = options.out = options.err = Stdio::pipe();
    Child child = spawn(options);
    child.in.reset();
    const bool ok = child.wait(in(20s)).value_or(Exit{}).ok();
    char text[8] = {};
    ::_exit(ok && ::read(child.out.get(), text, 8) == 4 && std::string_view(text) == "out\n" ? 0 : 1);
  }
  int status = 1;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Child, a_large_parent_shows_in_the_childs_peak_which_is_why_spawning_is_left_to_a_small_program) {
  // The rule that the reports build on: a child's ru_maxrss is never below what its parent had.
  const Exit exit = run_to_end({.argv = {"/bin/true"}});
  EXPECT_GT(exit.usage.max_rss_bytes, 100'000U);
  std::vector<char> large(std::size_t{96} << 20, 'x');
  const Exit inflated = run_to_end({.argv = {"/bin/true"}});
  EXPECT_GT(inflated.usage.max_rss_bytes, large.size());
  const auto through_small = [&] {
    SpawnOptions options = shell("cat /proc/self/status | grep VmHWM | tr -dc 0-9");
    options.out = Stdio::pipe();
    Child child = spawn(options);
    child.wait(in(20s));
    char text[32] = {};
    EXPECT_GT(::read(child.out.get(), text, sizeof text - 1), 0);
    return std::strtoull(text, nullptr, 10) * 1024;
  }();
  EXPECT_LT(through_small, large.size()) << "VmHWM is the process's own";
}

TEST(Child, usage_is_of_this_child_only) {
  const Exit busy = run_to_end(shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"));
  const Exit idle = run_to_end({.argv = {"/bin/true"}});
  EXPECT_GT(busy.usage.user + busy.usage.system, idle.usage.user + idle.usage.system);
}

}  // namespace
}  // namespace tare::process
