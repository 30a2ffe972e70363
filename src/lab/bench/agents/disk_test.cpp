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

TEST(Disk, only_rows_whose_state_outlives_the_process_wait_for_it) {
  for (const char* row : {"spawnPipelineDurable_8", "spawnSettleEndToEnd_8", "mixedLoad_8",
                          "durableCrash_1000", "restartScale_1000"})
    EXPECT_TRUE(is_durable(driver::find_workload(row).value().work)) << row;
  for (const char* row : {"spawnPipelineInMemory_8", "admission_8", "recoverySweep_8",
                          "duplicateSuppression_8", "sweepScale_1000", "dedupeScale_1000"})
    EXPECT_FALSE(is_durable(driver::find_workload(row).value().work)) << row;
}

}  // namespace
}  // namespace tare::agents_bench
