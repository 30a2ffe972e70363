#include "lab/process/lines.hpp"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "lab/process/process_for_tests.hpp"

namespace tare::process {
namespace {

using namespace std::chrono_literals;
using Status = Lines::Status;

Instant soon() {
  return in(20s);
}

Child driver(const std::string& script) {
  return spawn(
      {.argv = {"/bin/sh", "-c", script}, .in = Stdio::pipe(), .out = Stdio::pipe(), .err = Stdio::pipe()});
}

TEST(Lines, go_out_and_come_back) {
  Child child = driver("exec cat");
  Lines lines(child);
  for (const std::string text : {"one", "", "\xff\x01 three"}) {
    ASSERT_EQ(lines.write_line(text, soon()), Status::ok);
    const auto read = lines.read_line(soon());
    ASSERT_EQ(read.status, Status::ok);
    EXPECT_EQ(read.text, text);
  }
  lines.close_input();
  EXPECT_EQ(lines.read_line(soon()).status, Status::eof);
  EXPECT_TRUE(child.wait(soon())->ok());
}

TEST(Lines, several_in_one_piece_and_one_in_several_pieces) {
  Child child = driver("printf 'a\\r\\nb\\nc'; read x; printf 'd\\ne'");
  Lines lines(child);
  EXPECT_EQ(lines.read_line(soon()).text, "a");
  EXPECT_EQ(lines.read_line(Instant::min()).text, "b");
  EXPECT_EQ(lines.read_line(in(1ms)).status, Status::timeout);
  ASSERT_EQ(lines.write_line("go", soon()), Status::ok);
  EXPECT_EQ(lines.read_line(soon()).text, "cd") << "nothing was lost at the timeout";
  const auto end = lines.read_line(soon());
  EXPECT_EQ(end.status, Status::eof);
  EXPECT_EQ(end.text, "e");
}

TEST(Lines, a_line_of_the_limit_passes_and_one_byte_more_does_not) {
  Child child = driver("exec cat");
  Lines lines(child, {.limit = 200'000});
  const std::string fits(200'000, 'x');
  ASSERT_EQ(lines.write_line(fits, soon()), Status::ok);
  EXPECT_EQ(lines.read_line(soon()).text, fits);
  ASSERT_EQ(lines.write_line(fits + "y", soon()), Status::ok);
  EXPECT_EQ(lines.read_line(soon()).status, Status::too_long);
}

TEST(Lines, an_endless_line_is_refused_in_bounded_memory) {
  Child child = driver("exec cat /dev/zero");
  Lines lines(child);
  EXPECT_EQ(lines.read_line(soon()).status, Status::too_long);
  EXPECT_EQ(lines.read_line(soon()).status, Status::too_long) << "and stays so";
}

TEST(Lines, a_driver_that_does_not_read_cannot_hang_the_lab) {
  Child child = driver("exec sleep 1000");
  Lines lines(child);
  EXPECT_EQ(lines.write_line(std::string(std::size_t{1} << 20, 'x'), in(20ms)), Status::timeout);
}

TEST(Lines, a_driver_that_writes_before_it_reads_cannot_hang_the_lab) {
  Child child = driver(
      "head -c 300000 /dev/zero | tr '\\0' e >&2; head -c 300000 /dev/zero | tr '\\0' o; echo; exec cat");
  Lines lines(child);
  const std::string text(300'000, 'x');
  ASSERT_EQ(lines.write_line(text, soon()), Status::ok);
  EXPECT_EQ(lines.read_line(soon()).text, std::string(300'000, 'o'));
  EXPECT_EQ(lines.read_line(soon()).text, text);
}

TEST(Lines, a_dead_driver_is_the_end_and_no_sigpipe) {
  Child child = driver("echo last words >&2; exit 1");
  Lines lines(child);
  ASSERT_TRUE(child.wait_exit(soon()));
  EXPECT_EQ(lines.write_line("x", soon()), Status::eof);
  EXPECT_EQ(lines.read_line(soon()).status, Status::eof);
  EXPECT_EQ(lines.stderr_tail(), "last words\n");
}

TEST(Lines, the_end_of_stderr_is_kept_and_the_rest_drained) {
  Child child = driver("head -c 500000 /dev/zero >&2; echo END >&2; echo done; exec cat");
  Lines lines(child, {.stderr_tail = 1000});
  EXPECT_EQ(lines.read_line(soon()).text, "done") << "a full stderr pipe stops nobody";
  EXPECT_EQ(lines.stderr_tail().size(), 1000U);
  EXPECT_THAT(lines.stderr_tail(), testing::EndsWith("END\n"));
}

TEST(Lines, a_wait_can_be_interrupted) {
  Child child = driver("exec cat");
  const Fd event(::eventfd(1, EFD_CLOEXEC));
  Lines lines(child, {.interrupt = {.fd = event.get()}});
  EXPECT_EQ(lines.read_line(soon()).status, Status::interrupted);
}

}  // namespace
}  // namespace tare::process
