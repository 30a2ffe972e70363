#include "runtime/gateway/event_loop_monitor.hpp"

#include <gmock/gmock.h>

#include "base/json.hpp"

namespace tare::gateway {
namespace {

using std::chrono::milliseconds;

class MonitorTest : public testing::Test {
 protected:
  boost::asio::io_context io{1};
  ManualClock clock;
  EventLoopMonitor monitor{io, clock};
  json::Value told() const { return json::parse(monitor.json(), "eventLoop"); }
};

TEST_F(MonitorTest, what_was_not_measured_yet_is_null) {
  EXPECT_EQ(told().at("degraded"), false);
  EXPECT_TRUE(told().at("delayP99Ms").is_null());
  EXPECT_TRUE(told().at("utilization").is_null());
}

TEST_F(MonitorTest, a_second_is_told_by_nearest_rank) {
  std::vector<Nanoseconds> delays;
  for (int i = 1; i <= 50; ++i) delays.emplace_back(milliseconds(i));
  monitor.conclude(delays, milliseconds(1000), {milliseconds(250), milliseconds(300), milliseconds(100)});
  const json::Value loop = told();
  EXPECT_EQ(loop.at("delayP99Ms").to_number<double>(), 50);
  EXPECT_EQ(loop.at("delayMaxMs").to_number<double>(), 50);
  EXPECT_EQ(loop.at("utilization").to_number<double>(), 0.25);
  EXPECT_EQ(loop.at("cpuCoreRatio").to_number<double>(), 0.4);
  EXPECT_EQ(loop.at("cpuBreakdown").at("userRatio").to_number<double>(), 0.3);
  EXPECT_FALSE(monitor.is_degraded());
}

TEST_F(MonitorTest, a_late_or_busy_loop_is_degraded_until_a_good_second) {
  monitor.conclude({milliseconds(150)}, milliseconds(1000), {milliseconds(990), milliseconds(990), {}});
  clock.advance(milliseconds(700));
  EXPECT_TRUE(monitor.is_degraded());
  EXPECT_EQ(told().at("degradedSinceMs"), 700);
  EXPECT_EQ(told().at("reasons"), json::parse(R"(["event_loop_delay","event_loop_utilization"])", "r"));
  monitor.conclude({milliseconds(1)}, milliseconds(1000), {});
  EXPECT_FALSE(monitor.is_degraded());
  EXPECT_TRUE(told().at("degradedSinceMs").is_null());
}

}  // namespace
}  // namespace tare::gateway
