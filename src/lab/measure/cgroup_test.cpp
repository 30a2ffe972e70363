#include "lab/measure/cgroup.hpp"

#include <gtest/gtest.h>

#include "lab/measure/fake_root.hpp"

namespace tare::measure {
namespace {

TEST(Cgroup, the_tightest_limit_of_the_groups_around_counts) {
  FakeRoot root;
  root.add("proc/self/cgroup", "0::/outer/inner\n")
      .add("sys/fs/cgroup/cgroup.controllers", "cpu memory\n")
      .add("sys/fs/cgroup/outer/cpu.max", "150000 100000\n")
      .add("sys/fs/cgroup/outer/memory.max", "1073741824\n")
      .add("sys/fs/cgroup/outer/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 7\nthrottled_usec 1\n")
      .add("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n")
      .add("sys/fs/cgroup/outer/inner/memory.max", "max\n")
      .add("sys/fs/cgroup/outer/inner/cpu.stat", "nr_throttled 2\n");
  EXPECT_EQ(read_cgroup(root.path()), (CgroupFacts{2, 1.5, 1u << 30, 7}));
}

TEST(Cgroup, version_one_keeps_each_controller_in_its_own_tree) {
  FakeRoot root;
  root.add("proc/self/cgroup", "4:memory:/m\n2:cpu,cpuacct:/c\n0::/\n")
      .add("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "50000\n")
      .add("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n")
      .add("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
      .add("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n")
      .add("sys/fs/cgroup/cpu,cpuacct/c/cpu.stat", "nr_throttled 0\n")
      .add("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(read_cgroup(root.path()), (CgroupFacts{1, 0.5, std::nullopt, 0}));
}

TEST(Cgroup, a_group_outside_of_the_container_falls_back_to_what_is_mounted) {
  FakeRoot root;
  root.add("proc/self/cgroup", "0::/../../host/slice\n")
      .add("sys/fs/cgroup/cgroup.controllers", "")
      .add("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(read_cgroup(root.path()).cpu_quota, 2);
}

TEST(Cgroup, nonsense_and_nothing_are_absent) {
  FakeRoot root;
  EXPECT_EQ(read_cgroup(root.path()), CgroupFacts{});
  root.add("proc/self/cgroup", "nonsense\n:\n")
      .add("sys/fs/cgroup/cgroup.controllers", "")
      .add("sys/fs/cgroup/cpu.max", "1 0\n")
      .add("sys/fs/cgroup/cpu.stat", "nr_throttled x\n");
  EXPECT_EQ(read_cgroup(root.path()), (CgroupFacts{2, {}, {}, {}}));
}

}  // namespace
}  // namespace tare::measure
