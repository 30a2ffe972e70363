#include "lab/bench/gateway/preflight.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace tare::gateway_bench {
namespace {

TEST(Preflight, ManySessionsShareEightConnections) {
  EXPECT_EQ(operator_connections(1), 1U);
  EXPECT_EQ(operator_connections(64), 1U);
  EXPECT_EQ(operator_connections(65), 8U);
  EXPECT_EQ(operator_connections(10'000), 8U);
}

TEST(Preflight, RefusesALoadThatDoesNotFit) {
  const auto refusal = [](Needs needs, Machine machine) {
    try {
      check_fits(needs, machine);
      return std::string("fits");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable);
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refusal({10, 20, 30}, {20, 30}), "fits");
  EXPECT_EQ(refusal({10, 21, 30}, {20, 30}), "this load needs 21 file descriptors in the gateway");
  EXPECT_EQ(refusal({21, 20, 30}, {20, 30}), "this load needs 21 file descriptors in the lab");
  EXPECT_EQ(refusal({10, 20, 31}, {20, 30}), "this load needs 31 local ports in all");
}

TEST(Preflight, EachSessionMayNeedAConnectionOfTheGateway) {
  Options few;
  Options many;
  many.concurrency = 10'000;
  EXPECT_EQ(needs_of(many).gateway_fds - needs_of(few).gateway_fds, 10'000 - 8 + 7U);
  EXPECT_GT(read_machine().fds, 0U);
  EXPECT_GT(read_machine().ports, 1'000U);
}

TEST(Preflight, AGatewayThatRunsAlreadyHasLimitsOfItsOwn) {
  Options options;
  options.targets = {"url"};
  options.concurrency = 10'000;
  EXPECT_EQ(needs_of(options).gateway_fds, 0U);
  EXPECT_LT(needs_of(options).ports, 1'000U);
}

TEST(Preflight, ClientsThatPatchCountOnlyWhereThereIsSomethingToPatch) {
  Options none;
  Options some;
  some.session_updates = 1;
  EXPECT_EQ(needs_of(some).lab_fds - needs_of(none).lab_fds, some.session_update_clients);
}

}  // namespace
}  // namespace tare::gateway_bench
