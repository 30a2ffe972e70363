#include "runtime/provider/retry.hpp"

#include <gtest/gtest.h>

namespace tare::provider {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Failure failure(FailureKind kind) {
  return Failure(kind, "the model server failed");
}

TEST(Retry, waits_twice_as_long_each_time_and_spreads_the_upper_half) {
  const RetryPolicy policy{.attempts = 5, .base = milliseconds(500), .ceiling = milliseconds(1'500)};
  const Failure refused = failure(FailureKind::unreachable);
  EXPECT_EQ(next_attempt(policy, refused, 1, 0.0), milliseconds(250));
  EXPECT_EQ(next_attempt(policy, refused, 1, 0.5), milliseconds(375));
  EXPECT_EQ(next_attempt(policy, refused, 2, 0.0), milliseconds(500));
  EXPECT_EQ(next_attempt(policy, refused, 3, 0.0), milliseconds(750)) << "the ceiling holds";
  EXPECT_EQ(next_attempt(policy, refused, 4, 0.0), milliseconds(750));
  EXPECT_EQ(next_attempt(policy, refused, 5, 0.0), std::nullopt) << "that was the last attempt";
}

TEST(Retry, a_great_count_of_attempts_does_not_overflow) {
  const RetryPolicy policy{.attempts = 1'000'000};
  EXPECT_EQ(next_attempt(policy, failure(FailureKind::overloaded), 999'999, 0.0), milliseconds(4'000));
}

TEST(Retry, only_what_may_pass_is_tried_again) {
  const RetryPolicy policy;
  for (const auto kind :
       {FailureKind::unreachable, FailureKind::rate_limited, FailureKind::overloaded, FailureKind::cut}) {
    EXPECT_TRUE(next_attempt(policy, failure(kind), 1, 0.0)) << static_cast<int>(kind);
  }
  for (const auto kind : {FailureKind::unauthorized, FailureKind::rejected, FailureKind::timeout,
                          FailureKind::garbage, FailureKind::reported, FailureKind::too_large}) {
    EXPECT_FALSE(next_attempt(policy, failure(kind), 1, 0.0)) << static_cast<int>(kind);
  }
}

TEST(Retry, what_the_server_asks_for_is_never_undercut) {
  const RetryPolicy policy;
  const auto asking = [](milliseconds wait) {
    return Failure(FailureKind::rate_limited, "too many requests").with_retry_after(wait);
  };
  EXPECT_EQ(next_attempt(policy, asking(seconds(2)), 1, 0.0), seconds(2));
  EXPECT_EQ(next_attempt(policy, asking(seconds(2)), 1, 0.5), milliseconds(2'125));
  EXPECT_EQ(next_attempt(policy, asking(milliseconds(1)), 1, 0.0), milliseconds(250));
}

TEST(Retry, a_server_that_asks_for_too_much_is_not_waited_for) {
  const RetryPolicy policy{.patience = seconds(30)};
  const Failure asks = Failure(FailureKind::rate_limited, "too many requests").with_retry_after(seconds(31));
  EXPECT_EQ(next_attempt(policy, asks, 1, 0.0), std::nullopt);
  EXPECT_TRUE(asks.retryable()) << "the caller may come back on its own";
}

TEST(RetryAfter, reads_seconds_and_milliseconds) {
  const WallTime now{};
  EXPECT_EQ(retry_after({{"Retry-After", "2"}}, now), seconds(2));
  EXPECT_EQ(retry_after({{"retry-after", " 0.25 "}}, now), milliseconds(250));
  EXPECT_EQ(retry_after({{"Retry-After", "2"}, {"Retry-After-Ms", "1500"}}, now), milliseconds(1'500));
  EXPECT_EQ(retry_after({{"Retry-After", "0"}}, now), milliseconds(0));
}

TEST(RetryAfter, reads_a_date) {
  const WallTime now(seconds(784'111'775));  // two seconds before that date
  EXPECT_EQ(retry_after({{"Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"}}, now), seconds(2));
  EXPECT_EQ(retry_after({{"Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"}}, now + seconds(9)), seconds(0));
}

TEST(RetryAfter, what_cannot_be_read_asks_for_nothing) {
  for (const char* text : {"", "soon", "-1", "nan", "inf", "1e300", "Sun, 99 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nxv 1994 08:49:37 GMT"}) {
    EXPECT_EQ(retry_after({{"Retry-After", text}}, WallTime{}), std::nullopt) << text;
  }
  EXPECT_EQ(retry_after({}, WallTime{}), std::nullopt);
}

}  // namespace
}  // namespace tare::provider
