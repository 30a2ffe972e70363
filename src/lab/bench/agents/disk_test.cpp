#include "lab/bench/agents/disk.hpp"

#include <gtest/gtest.h>

namespace tare::agents_bench {
namespace {

TEST(Disk, shared_memory_is_no_disk) {
  // Linux keeps /dev/shm in a tmpfs, and /proc is of a kind of its own.
  EXPECT_TRUE(is_in_memory("/dev/shm"));
  EXPECT_FALSE(is_in_memory("/proc"));
  EXPECT_FALSE(is_in_memory("/nothing"));
}

}  // namespace
}  // namespace tare::agents_bench
