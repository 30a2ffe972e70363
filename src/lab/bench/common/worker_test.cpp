#include "lab/bench/common/worker.hpp"

#include <gtest/gtest.h>

namespace tare::bench {
namespace {

using namespace std::chrono_literals;

TEST(Worker, has_two_seconds_to_say_that_its_budget_is_over) {
  EXPECT_EQ(budget_within(300s), 298s);
  EXPECT_EQ(budget_within(4s), 2s);
}

TEST(Worker, has_at_least_half_of_its_time) {
  EXPECT_EQ(budget_within(3s), 1500ms);
  EXPECT_EQ(budget_within(1ms), 500us);
}

}  // namespace
}  // namespace tare::bench
