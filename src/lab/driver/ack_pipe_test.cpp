#include "lab/driver/ack_pipe.hpp"

#include <csignal>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "lab/process/child.hpp"
#include "lab/process/tree.hpp"

namespace tare::driver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto long_enough = std::chrono::seconds(20);

process::Child shell(const std::string& script, const std::filesystem::path& acks) {
  process::SpawnOptions options;
  options.argv = {"sh", "-c", script, "sh", acks.string()};
  return process::spawn(options);
}

Instant soon() {
  return SystemClock().now() + long_enough;
}

TEST(AckPipe, a_worker_is_killed_after_the_line_that_was_chosen) {
  const file::TemporaryFolder folder("tare-test");
  AckPipe acks(folder.path() / "acks");
  // It waits for ever after the third: only the kill can end it.
  process::Child child =
      shell("exec 3>\"$1\"; echo a >&3; echo b >&3; echo c >&3; exec sleep 1000", acks.path());
  acks.kill_after(3, child.pid());
  ASSERT_TRUE(child.wait_exit(soon()));
  EXPECT_THAT(acks.finish(), ElementsAre("a", "b", "c"));
  EXPECT_TRUE(acks.killed());
  EXPECT_EQ(child.wait(soon()).value().signal, SIGKILL);
}

TEST(AckPipe, what_the_worker_started_in_its_group_is_killed_too) {
  const file::TemporaryFolder folder("tare-test");
  AckPipe acks(folder.path() / "acks");
  process::Child child = shell("sleep 1000 & echo $! >\"$1\"; wait", acks.path());
  acks.kill_after(1, child.pid());
  ASSERT_TRUE(child.wait_exit(soon()));
  const std::vector<std::string> lines = acks.finish();
  ASSERT_EQ(lines.size(), 1U);
  const Instant limit = soon();
  while (process::is_alive(std::stoi(lines[0])) && SystemClock().now() < limit) std::this_thread::yield();
  EXPECT_FALSE(process::is_alive(std::stoi(lines[0])));
}

TEST(AckPipe, a_worker_that_ends_earlier_leaves_what_it_wrote) {
  const file::TemporaryFolder folder("tare-test");
  AckPipe acks(folder.path() / "acks");
  process::Child child = shell("printf 'a\\nb\\nhalf' >\"$1\"", acks.path());
  acks.kill_after(3, child.pid());
  ASSERT_TRUE(child.wait(soon()).value().ok());
  EXPECT_THAT(acks.finish(), ElementsAre("a", "b"));
  EXPECT_FALSE(acks.killed());
}

TEST(AckPipe, a_writer_never_waits_for_the_lab) {
  const file::TemporaryFolder folder("tare-test");
  AckPipe acks(folder.path() / "acks");
  // More than the largest pipe that a user may have holds.
  process::Child child = shell("yes 0123456789abcdef-1234 | head -n 100000 >\"$1\"", acks.path());
  ASSERT_TRUE(child.wait(soon()).value().ok());
  EXPECT_EQ(acks.finish().size(), 100'000U);
}

TEST(AckPipe, a_kill_that_is_asked_for_late_is_made_up_for) {
  const file::TemporaryFolder folder("tare-test");
  AckPipe acks(folder.path() / "acks");
  process::Child child = shell("echo a >\"$1\"; exec sleep 1000", acks.path());
  std::ofstream(acks.path()) << "b\n";  // by somebody else, before
  acks.kill_after(1, child.pid());
  ASSERT_TRUE(child.wait_exit(soon()));
  EXPECT_TRUE(acks.killed());
}

TEST(AckPipe, it_is_gone_afterwards) {
  const file::TemporaryFolder folder("tare-test");
  {
    const AckPipe acks(folder.path() / "acks");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(AckPipe, nobody_who_writes_is_nothing_acknowledged) {
  const file::TemporaryFolder folder("tare-test");
  AckPipe acks(folder.path() / "acks");
  EXPECT_THAT(acks.finish(), IsEmpty());
  EXPECT_THROW(AckPipe(folder.path() / "none" / "acks"), Error);
}

}  // namespace
}  // namespace tare::driver
