#include "lab/process/run.hpp"

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "lab/process/pidfd.hpp"
#include "lab/process/process_for_tests.hpp"

namespace tare::process {
namespace {

using namespace std::chrono_literals;

RunOptions within(Nanoseconds time) {
  RunOptions options;
  options.deadline = in(time);
  return options;
}

/// Whether the process is gone, or goes within a bound.
bool is_gone(pid_t pid) {
  const Fd pidfd = open_pidfd(pid);
  if (!pidfd) return true;
  pollfd entry{pidfd.get(), POLLIN, 0};
  return ::poll(&entry, 1, 20000) == 1;
}

TEST(Run, takes_both_streams_and_the_exit) {
  const RunResult result = run(shell("echo out; echo err >&2; exit 3"), {}, within(20s));
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.exit.code, 3);
  EXPECT_FALSE(result.timed_out);
  EXPECT_FALSE(result.pipe_held_open);
  EXPECT_FALSE(result.truncated());
  EXPECT_GT(result.elapsed.count(), 0);
}

TEST(Run, output_is_exact_to_the_byte_at_sizes_around_a_pipe) {
  for (const std::size_t size : {0, 1, 2, 4095, 4096, 65535, 65536, 65537, 262144}) {
    std::string input(size, 'a');
    for (std::size_t i = 0; i < size; ++i) input[i] = static_cast<char>(i * 31);
    const RunResult result = run({.argv = {"/bin/cat"}}, input, within(20s));
    ASSERT_EQ(result.out, input);
    ASSERT_TRUE(result.exit.ok());
    ASSERT_EQ(result.in_bytes, size);
  }
}

TEST(Run, a_large_input_and_output_pass_through_in_bounded_memory) {
#ifdef NDEBUG
  const std::string input(std::size_t{256} << 20, 'x');
#else
  const std::string input(std::size_t{32} << 20, 'x');
#endif
  RunOptions options = within(50s);
  std::uint64_t seen = 0;
  bool same = true;
  options.on_out = [&](std::string_view text) {
    seen += text.size();
    same = same && text.find_first_not_of('x') == std::string_view::npos;
  };
  const RunResult result = run(shell("tee /dev/stderr"), input, options);
  EXPECT_EQ(seen, input.size());
  EXPECT_TRUE(same);
  EXPECT_EQ(result.out_bytes, input.size());
  EXPECT_EQ(result.err_bytes, input.size());
  EXPECT_TRUE(result.out.empty());
  EXPECT_TRUE(result.exit.ok());
}

TEST(Run, output_beyond_the_limit_is_counted_and_said_to_be_cut) {
  RunOptions options = within(20s);
  options.output_limit = 1000;
  const RunResult result = run(shell("head -c 300000 /dev/zero"), {}, options);
  EXPECT_EQ(result.out.size(), 1000U);
  EXPECT_EQ(result.out_bytes, 300000U);
  EXPECT_TRUE(result.truncated());
  EXPECT_TRUE(result.exit.ok());
}

TEST(Run, a_child_that_never_reads_its_stdin_is_no_deadlock_and_no_sigpipe) {
  const std::string input(std::size_t{1} << 20, 'x');
  const RunResult result = run({.argv = {"/bin/true"}}, input, within(20s));
  EXPECT_TRUE(result.exit.ok());
  EXPECT_LT(result.in_bytes, input.size());
}

TEST(Run, a_child_that_closes_its_stdin_early_is_served_to_the_end) {
  const std::string input(std::size_t{1} << 20, 'x');
  const RunResult result = run(shell("head -c 5; exec <&-; echo; echo done"), input, within(20s));
  EXPECT_EQ(result.out, "xxxxx\ndone\n");
  EXPECT_TRUE(result.exit.ok());
}

/// Runs a script that announces a pid and never ends, with a deadline that is long enough for the
/// announcement however slow the machine is.
RunResult run_past_announcement(const std::string& script) {
  RunResult result;
  for (const auto time : {200ms, 2000ms, 20000ms}) {
    result = run(shell(script), {}, within(time));
    if (result.out.ends_with('\n')) break;
  }
  return result;
}

TEST(Run, the_deadline_kills_the_grandchild_too) {
  const RunResult result = run_past_announcement("sleep 1000 & echo $!; wait");
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit.signal, SIGKILL);
  const pid_t grandchild = std::atoi(result.out.c_str());
  ASSERT_GT(grandchild, 0);
  EXPECT_TRUE(is_gone(grandchild));
}

TEST(Run, the_deadline_kills_a_grandchild_in_a_session_of_its_own) {
  const RunResult result = run_past_announcement("setsid sh -c 'echo $$; exec sleep 1000' & wait");
  EXPECT_TRUE(result.timed_out);
  const pid_t grandchild = std::atoi(result.out.c_str());
  ASSERT_GT(grandchild, 0);
  EXPECT_TRUE(is_gone(grandchild));
}

TEST(Run, a_deadline_that_has_passed_is_a_timeout) {
  RunOptions options;
  options.deadline = Instant::min();
  const RunResult result = run(shell("sleep 1000"), {}, options);
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.exit.ok());
}

TEST(Run, a_pipe_that_a_grandchild_keeps_open_is_noted_and_nothing_is_left_running) {
  RunOptions options = within(20s);
  options.drain_limit = 20ms;
  const RunResult result = run(shell("sleep 1000 & echo $!; exit 4"), {}, options);
  EXPECT_TRUE(result.pipe_held_open);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit.code, 4);
  EXPECT_TRUE(is_gone(std::atoi(result.out.c_str())));
}

TEST(Run, output_that_a_grandchild_writes_after_the_exit_is_read_until_it_closes) {
  RunOptions options = within(20s);
  options.drain_limit = 15s;
  const RunResult result = run(shell("(head -c 200000 /dev/zero; echo last) & exit 0"), {}, options);
  EXPECT_FALSE(result.pipe_held_open);
  EXPECT_EQ(result.out_bytes, 200005U);
}

TEST(Run, the_exit_is_reported_with_the_last_byte_and_not_after_a_timer) {
  // A drain limit of an hour is not waited for when nobody holds the pipes.
  RunOptions options = within(50s);
  options.drain_limit = 1h;
  for (int i = 0; i < 20; ++i) {
    const RunResult result = run(shell("echo ok"), {}, options);
    ASSERT_EQ(result.out, "ok\n");
    ASSERT_FALSE(result.pipe_held_open);
    ASSERT_FALSE(result.timed_out);
  }
}

TEST(Run, a_child_that_closes_its_output_is_still_waited_for) {
  const RunResult result = run(shell("exec >&- 2>&-; cat >/dev/null; exit 6"), "input", within(20s));
  EXPECT_EQ(result.exit.code, 6);
}

TEST(Run, an_interrupt_ends_it_as_the_deadline_does) {
  const Fd event(::eventfd(1, EFD_CLOEXEC));
  RunOptions options = within(20s);
  options.interrupt = {.fd = event.get()};
  const RunResult result = run(shell("sleep 1000"), {}, options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit.signal, SIGKILL);
}

TEST(Run, a_command_that_cannot_be_started_is_an_error) {
  EXPECT_THROW(run({.argv = {"/nowhere/x"}}, "input"), SpawnError);
}

}  // namespace
}  // namespace tare::process
