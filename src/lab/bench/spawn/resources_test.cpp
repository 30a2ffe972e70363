#include "lab/bench/spawn/resources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tare::spawn {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

driver::Sample sample_of(std::int64_t user_us, std::int64_t system_us, std::uint64_t rss) {
  driver::Sample sample;
  sample.resources = driver::Resources{user_us, system_us, rss};
  return sample;
}

TEST(Costs, are_exact_when_every_sample_says_what_it_cost) {
  Costs costs;
  costs.add(sample_of(1000, 3000, 5 << 20));
  costs.add(sample_of(3000, 5000, 7 << 20));
  report::Resources resources;
  costs.write(resources, 0);
  EXPECT_EQ(resources.cpu_user_ms, 2.0);
  EXPECT_EQ(resources.cpu_system_ms, 4.0);
  EXPECT_EQ(resources.max_rss_bytes, 7U << 20);
  EXPECT_THAT(resources.methods, Contains(HasSubstr("wait4 of every child")));
}

TEST(Costs, of_an_interrupted_run_weigh_by_its_samples) {
  Costs costs;
  costs.add(sample_of(5000, 0, 1));
  report::Resources resources;
  resources.cpu_user_ms = 1.0;
  resources.cpu_system_ms = 0.0;
  costs.write(resources, 3);
  EXPECT_EQ(resources.cpu_user_ms, 2.0);  // (3 × 1 + 5) ÷ 4
}

TEST(Costs, that_cannot_be_known_yet_are_null_and_never_0) {
  Costs costs;
  costs.begin(getpid());
  costs.add(driver::Sample{});
  report::Resources resources;
  costs.write(resources, 0);
  EXPECT_EQ(resources.cpu_user_ms, std::nullopt);
  EXPECT_THAT(resources.methods, Contains(HasSubstr("CPU n/a")));
}

TEST(Costs, come_from_the_process_tree_when_samples_do_not_say) {
  Costs costs;
  costs.begin(getpid());
  costs.add(driver::Sample{});
  costs.end(getpid());
  report::Resources resources;
  costs.write(resources, 0);
  EXPECT_TRUE(resources.cpu_user_ms.has_value());
  EXPECT_THAT(resources.methods, Contains(HasSubstr("/proc stat")));
}

/// Uses so much CPU, whatever the clock on the wall says.
void burn(std::chrono::nanoseconds cpu) {
  const auto used = [] {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  for (const auto end = used() + cpu; used() < end;) continue;
}

TEST(Costs, of_several_processes_are_means_over_all_their_operations) {
  Costs costs;
  for (int process = 0; process < 2; ++process) {
    costs.begin(getpid());
    burn(std::chrono::milliseconds(100));
    costs.add(driver::Sample{});
    costs.end(getpid());
  }
  report::Resources resources;
  costs.write(resources, 0);
  // Two operations of 100 ms, known to a tick of 10 ms; counted as three they would be 67 ms each.
  EXPECT_GT(*resources.cpu_user_ms + *resources.cpu_system_ms, 80);
}

TEST(PeakWatch, sees_the_tree_of_a_process) {
  report::Resources resources;
  PeakWatch watch(getpid());
  watch.stop();
  watch.write(resources);
  EXPECT_GE(resources.threads.value_or(0), 1U);
  EXPECT_EQ(resources.max_rss_bytes, std::nullopt);  // this process has no children
  EXPECT_THAT(resources.methods, Contains(HasSubstr("max RSS n/a")));
}

}  // namespace
}  // namespace tare::spawn
