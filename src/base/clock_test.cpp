#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace tare {
namespace {

using namespace std::chrono_literals;

TEST(Clock, manual_clock_moves_only_when_told) {
  ManualClock clock;
  const Instant start = clock.now();
  EXPECT_EQ(clock.now() - start, 0ns);
  clock.advance(1500ms);
  EXPECT_EQ(clock.now() - start, 1500ms);
  EXPECT_EQ(rfc3339(clock.wall()), "1970-01-01T00:00:01.500Z");
}

TEST(Clock, system_clock_never_goes_back) {
  const SystemClock clock;
  Instant last = clock.now();
  for (int i = 0; i < 1000; ++i) {
    const Instant now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, rfc3339_knows_leap_days) {
  const auto time = std::chrono::sys_days{std::chrono::year{2028} / 2 / 29} + 23h + 59min + 58s + 7ms;
  EXPECT_EQ(rfc3339(WallTime{time}), "2028-02-29T23:59:58.007Z");
}

TEST(Clock, durations_are_typed_until_they_are_printed) {
  EXPECT_DOUBLE_EQ(to_ms(1'250us), 1.25);
}

}  // namespace
}  // namespace tare
