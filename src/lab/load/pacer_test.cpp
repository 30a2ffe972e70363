#include "lab/load/pacer.hpp"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "net/loopback_for_tests.hpp"

namespace tare::load {
namespace {

using namespace std::chrono_literals;

void busy_until(Instant moment) {
  while (SystemClock().now() < moment) {
  }
}

TEST(Pacer, starts_at_the_moments_of_its_schedule) {
  net::Loopback loop;
  std::vector<Instant> due;
  const Instant before = SystemClock().now();
  Pacer pacer(loop.io, {.every = 100us, .first_after = 2ms, .rounds = 50},
              [&](std::uint64_t index, Instant moment) {
                EXPECT_EQ(index, due.size());
                EXPECT_GE(SystemClock().now(), moment);
                due.push_back(moment);
              });
  pacer.begin();
  loop.run_until([&] { return pacer.done(); });
  ASSERT_EQ(due.size(), 50U);
  EXPECT_EQ(pacer.started(), 50U);
  EXPECT_GE(due[0], before + 2ms);
  for (std::size_t i = 0; i < due.size(); ++i) EXPECT_EQ(due[i] - due[0], 100us * i);
}

TEST(Pacer, what_is_late_starts_nevertheless_with_its_own_moment) {
  net::Loopback loop;
  std::vector<Instant> due;
  std::vector<Instant> started;
  Pacer pacer(loop.io, {.every = 1ms, .rounds = 8}, [&](std::uint64_t, Instant moment) {
    due.push_back(moment);
    started.push_back(SystemClock().now());
    if (due.size() == 1) busy_until(moment + 6500us);
  });
  pacer.begin();
  loop.run_until([&] { return pacer.done(); });
  ASSERT_EQ(due.size(), 8U);
  EXPECT_EQ(due[7] - due[0], 7ms);
  EXPECT_GE(started[1] - due[1], 5500us);
  EXPECT_LT(started[1], started[6]);
}

TEST(Pacer, answers_have_their_turn_while_starts_are_late) {
  net::Loopback loop;
  bool answered = false;
  Pacer pacer(loop.io, {.every = 1us}, [&](std::uint64_t, Instant) {
    boost::asio::post(loop.io, [&] { answered = true; });
    busy_until(SystemClock().now() + 2us);
  });
  pacer.begin();
  loop.run_until([&] { return answered; });
}

TEST(Pacer, a_closed_pace_waits_for_the_end_of_a_round) {
  net::Loopback loop;
  std::vector<Instant> due;
  Pacer pacer(loop.io, {.pace = Pace::closed_from_end, .every = 1ms, .rounds = 2},
              [&](std::uint64_t, Instant moment) { due.push_back(moment); });
  pacer.begin();
  loop.run_until([&] { return due.size() == 1; });
  busy_until(due[0] + 5ms);
  EXPECT_EQ(loop.io.poll(), 0U);
  const Instant end = SystemClock().now();
  pacer.ended();
  loop.run_until([&] { return due.size() == 2; });
  EXPECT_GE(due[1], end + 1ms);
  EXPECT_FALSE(pacer.done());
  pacer.ended();
  EXPECT_TRUE(pacer.done());
}

TEST(Pacer, a_round_may_be_over_at_once) {
  net::Loopback loop;
  std::optional<Pacer> pacer;
  pacer.emplace(loop.io, Schedule{.pace = Pace::closed_from_start, .every = 0ns, .rounds = 10'000},
                [&](std::uint64_t, Instant) { pacer->ended(); });
  pacer->begin();
  loop.run_until([&] { return pacer->done(); });
  EXPECT_EQ(pacer->started(), 10'000U);
}

TEST(Pacer, makes_no_start_after_stop_not_even_of_the_same_turn) {
  net::Loopback loop;
  std::optional<Pacer> pacer;
  pacer.emplace(loop.io, Schedule{.every = 1ns}, [&](std::uint64_t, Instant) { pacer->stop(); });
  pacer->begin();
  loop.io.run();
  EXPECT_EQ(pacer->started(), 1U);
  EXPECT_TRUE(pacer->done());
}

TEST(Pacer, may_be_destroyed_by_a_start) {
  net::Loopback loop;
  int starts = 0;
  std::optional<Pacer> pacer;
  pacer.emplace(loop.io, Schedule{.every = 1ns}, [&](std::uint64_t, Instant) {
    ++starts;
    pacer.reset();
  });
  pacer->begin();
  loop.io.run();
  EXPECT_EQ(starts, 1);
}

}  // namespace
}  // namespace tare::load
