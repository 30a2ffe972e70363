#include "lab/process/tree.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/file.hpp"
#include "lab/process/child.hpp"
#include "lab/process/lines.hpp"
#include "lab/process/pidfd.hpp"
#include "lab/process/proc.hpp"
#include "lab/process/process_for_tests.hpp"

namespace tare::process {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

Child piped(const std::string& script) {
  return spawn({.argv = {"/bin/sh", "-c", script}, .in = Stdio::pipe(), .out = Stdio::pipe()});
}

/// The pid that a child prints on its next line, as a handle on that process.
Fd announced(Lines& lines) {
  const Lines::Read read = lines.read_line(in(20s));
  EXPECT_EQ(read.status, Lines::Status::ok);
  return open_pidfd(std::atoi(read.text.c_str()));
}

bool is_gone(const Fd& pidfd) {
  pollfd entry{pidfd.get(), POLLIN, 0};
  return ::poll(&entry, 1, 20000) == 1;
}

/// A /proc made of files.
class FakeProc {
 public:
  void add(int pid, int ppid, char state, const std::string& rest, const std::string& name = "sh") {
    const fs::path process = folder_.path() / std::to_string(pid);
    fs::create_directories(process / "fd");
    write(process / "stat", fmt::format("{} ({}) {} {} {}", pid, name, state, ppid, rest));
  }
  void file(int pid, const std::string& name, const std::string& text) {
    write(folder_.path() / std::to_string(pid) / name, text);
  }
  const fs::path& path() const { return folder_.path(); }

 private:
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
  file::TemporaryFolder folder_;
};

/// Fields 5 to 24 of a stat line.
std::string fields(int utime, int stime, int cutime, int cstime, int threads, int rss) {
  return fmt::format("1 1 0 -1 4194304 0 0 0 0 {} {} {} {} 20 0 {} 0 777 10000 {} 18446744073709551615 1 1\n",
                     utime, stime, cutime, cstime, threads, rss);
}

TEST(Tree, sums_the_whole_tree_and_waited_for_children) {
  FakeProc proc;
  proc.add(10, 1, 'S', fields(100, 10, 5, 1, 3, 7), "we (ird) name");
  proc.add(11, 10, 'R', fields(20, 2, 0, 0, 1, 2));
  proc.add(12, 11, 'S', fields(3, 4, 0, 0, 2, 1));
  proc.add(13, 11, 'Z', fields(1, 1, 0, 0, 1, 0));
  proc.add(99, 1, 'R', fields(5000, 5000, 0, 0, 9, 9));
  for (const int pid : {10, 11, 12}) {
    proc.file(pid, "status", fmt::format("Name:\tx\nVmPeak:\t  9 kB\nVmHWM:\t  {} kB\n", pid * 100));
    proc.file(pid, "smaps_rollup", fmt::format("Rss:  9 kB\nPss:   {} kB\nPss_Dirty: 1 kB\n", pid));
    proc.file(pid, "fd/0", "");
  }
  const auto usage = read_tree(10, TreeFields::all, proc.path());
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->processes, 3U);
  EXPECT_EQ(usage->zombies, 1U);
  EXPECT_EQ(usage->threads, 6U);
  const std::int64_t tick = 1'000'000 / ::sysconf(_SC_CLK_TCK);
  EXPECT_EQ(usage->cpu_user->count(), (105 + 20 + 3 + 1) * tick);
  EXPECT_EQ(usage->cpu_system->count(), (11 + 2 + 4 + 1) * tick);
  EXPECT_EQ(usage->rss_bytes, 10U * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(usage->peak_rss_bytes, 3300U * 1024);
  EXPECT_EQ(usage->largest_child_peak_bytes, 1200U * 1024);
  EXPECT_EQ(usage->pss_bytes, 33U * 1024);
  EXPECT_EQ(usage->fds, 3U);
}

TEST(Tree, what_was_not_asked_for_is_absent) {
  FakeProc proc;
  proc.add(10, 1, 'S', fields(1, 1, 0, 0, 1, 1));
  const auto usage = read_tree(10, TreeFields::none, proc.path());
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->cpu_user, std::nullopt);
  EXPECT_EQ(usage->rss_bytes, std::nullopt);
  EXPECT_EQ(usage->pss_bytes, std::nullopt);
  EXPECT_EQ(usage->fds, std::nullopt);
}

TEST(Tree, a_process_that_vanished_during_the_walk_is_skipped) {
  FakeProc proc;
  proc.add(10, 1, 'S', fields(1, 1, 0, 0, 1, 1));
  proc.add(11, 10, 'S', fields(1, 1, 0, 0, 1, 1));
  proc.file(10, "smaps_rollup", "Pss: 5 kB\n");
  proc.file(10, "status", "VmHWM: 6 kB\n");
  const auto usage = read_tree(10, TreeFields::all, proc.path());
  EXPECT_EQ(usage->pss_bytes, 5U * 1024);
  EXPECT_EQ(usage->peak_rss_bytes, 6U * 1024);
  EXPECT_EQ(usage->largest_child_peak_bytes, std::nullopt);
  EXPECT_EQ(read_tree(12, TreeFields::all, proc.path()), std::nullopt);
}

TEST(Tree, a_figure_that_cannot_be_read_is_absent_not_too_small) {
  FakeProc proc;
  proc.add(10, 1, 'S', fields(1, 1, 0, 0, 1, 1));
  proc.add(11, 10, 'S', fields(1, 1, 0, 0, 1, 1));
  proc.file(10, "smaps_rollup", "Pss: 5 kB\n");
  fs::create_directory(proc.path() / "11" / "smaps_rollup");  // read fails with EISDIR
  const auto usage = read_tree(10, TreeFields::all, proc.path());
  EXPECT_EQ(usage->pss_bytes, std::nullopt);
  EXPECT_NE(usage->rss_bytes, std::nullopt);
}

TEST(Tree, a_broken_stat_line_is_no_process) {
  for (const char* line :
       {"", "x", "12", "12 (sh", "12 (sh)", "12 (sh) S", "12 (sh) S 1 2 3", ") (", "12 )("}) {
    EXPECT_FALSE(proc::parse_stat(line).has_value()) << line;
  }
}

TEST(Tree, a_snapshot_torn_into_a_loop_ends) {
  std::vector<proc::Stat> all(2);
  all[0].pid = 5;
  all[0].ppid = 6;
  all[1].pid = 6;
  all[1].ppid = 5;
  EXPECT_EQ(proc::tree_of(all, 5).size(), 2U);
}

TEST(Tree, sees_real_processes) {
  // In the background, cat would read from /dev/null and end.
  Child child = piped("exec 3<&0; cat <&3 & echo $!; wait");
  Lines lines(child);
  ASSERT_TRUE(announced(lines));
  const auto usage = read_tree(child.pid(), TreeFields::all);
  ASSERT_TRUE(usage);
  EXPECT_GE(usage->processes, 2U);
  EXPECT_GE(usage->threads, 2U);
  EXPECT_GT(usage->rss_bytes, 100'000U);
  EXPECT_GT(usage->peak_rss_bytes, 100'000U);
  EXPECT_GT(usage->largest_child_peak_bytes, 0U);  // it may not have started its program yet
  EXPECT_GE(usage->fds, 6U);
  EXPECT_LE(usage->pss_bytes.value_or(0), usage->rss_bytes);
}

TEST(Tree, a_zombie_is_not_alive) {
  Child child = spawn({.argv = {"/bin/true"}});
  ASSERT_TRUE(child.wait_exit(in(20s)));
  ASSERT_EQ(::kill(child.pid(), 0), 0) << "kill(pid, 0) is fooled";
  EXPECT_FALSE(is_alive(child.pid()));
  const auto usage = read_tree(child.pid(), TreeFields::all);
  EXPECT_EQ(usage->processes, 0U);
  EXPECT_EQ(usage->zombies, 1U);
  EXPECT_TRUE(is_alive(::getpid()));
}

TEST(KillTree, reaches_other_groups_and_sessions_and_stopped_processes) {
  Child child = piped(
      "setsid sh -c 'echo $$; sleep 1000 & echo $!; wait' & "
      "sleep 1000 & echo $!; kill -STOP $!; wait");
  Lines lines(child);
  std::vector<Fd> descendants;
  for (int i = 0; i < 3; ++i) descendants.push_back(announced(lines));
  EXPECT_GE(kill_tree(child.pid()), 4U);
  const auto exit = child.wait(in(20s));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->signal, SIGKILL);
  for (const Fd& pidfd : descendants) EXPECT_TRUE(is_gone(pidfd));
}

TEST(KillTree, catches_a_tree_that_keeps_forking) {
  Child child = piped("f() { while :; do sleep 1000 & sleep 0.001; done; }; f & f & echo $!; wait");
  Lines lines(child);
  ASSERT_TRUE(announced(lines));
  kill_tree(child.pid());
  ASSERT_TRUE(child.wait(in(20s)));
  const auto left = proc::read_all("/proc");
  for (const auto& stat : left) {
    EXPECT_FALSE(stat.ppid == ::getpid() && !stat.is_zombie()) << stat.pid;
  }
}

TEST(KillTree, a_process_that_is_gone_is_nothing) {
  Child child = spawn({.argv = {"/bin/true"}});
  child.wait(in(20s));
  EXPECT_EQ(kill_tree(child.pid()), 0U);
}

TEST(KillLeftBehind, finds_the_group_and_what_carries_the_mark_and_nothing_else) {
  Child other = piped("echo $$; exec sleep 1000");
  SpawnOptions options{
      .argv = {"/bin/sh", "-c",
               "sleep 1000 & echo $!; setsid sh -c 'echo $$; exec sleep 1000' & read x; exit 0"},
      .env = {{"TARE_TEST_MARK", "left"}},
      .in = Stdio::pipe(),
      .out = Stdio::pipe()};
  Child child = spawn(options);
  Lines lines(child);
  const Fd in_group = announced(lines);
  const Fd in_session = announced(lines);
  child.in.reset();
  ASSERT_TRUE(child.wait_exit(in(20s)));
  EXPECT_EQ(kill_left_behind(child.pid(), "TARE_TEST_MARK", "left", in(20s)), 2U);
  EXPECT_TRUE(is_gone(in_group));
  EXPECT_TRUE(is_gone(in_session));
  EXPECT_TRUE(is_alive(other.pid()));
  EXPECT_EQ(kill_left_behind(child.pid(), "TARE_TEST_MARK", "left", in(20s)), 0U);
}

TEST(Strays, orphans_of_a_killed_driver_are_adopted_killed_and_reaped) {
  become_subreaper();
  Child keep = piped("cat >/dev/null");
  Child child = piped("setsid sh -c 'echo $$; sleep 1000 & echo $!; wait' & wait");
  Lines lines(child);
  const Fd session = announced(lines);
  const Fd below = announced(lines);
  // Only the driver itself dies: its children are orphans in a session of their own.
  child.signal(SIGKILL);
  ASSERT_TRUE(child.wait(in(20s)));
  const std::array kept{keep.pid()};
  const Strays strays = reap_strays(kept, in(20s));
  EXPECT_EQ(strays.killed, 2U);
  EXPECT_EQ(strays.reaped, 2U);
  EXPECT_TRUE(is_gone(session));
  EXPECT_TRUE(is_gone(below));
  EXPECT_TRUE(is_alive(keep.pid())) << "a living Child is not a stray";
  keep.in.reset();
  EXPECT_TRUE(keep.wait(in(20s))->ok());
  EXPECT_EQ(reap_strays({}, in(20s)).reaped, 0U);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

}  // namespace
}  // namespace tare::process
