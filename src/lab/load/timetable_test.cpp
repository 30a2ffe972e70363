#include "lab/load/timetable.hpp"

#include <gtest/gtest.h>

namespace tare::load {
namespace {

using namespace std::chrono_literals;

constexpr Instant begin = Instant{} + 1h;

TEST(Timetable, an_open_pace_goes_by_the_clock_alone) {
  Timetable table({.every = 20ms, .first_after = 5ms});
  EXPECT_FALSE(table.next());
  table.begin(begin);
  EXPECT_EQ(table.next(), begin + 5ms);
  table.start(begin + 17ms);  // late
  table.ended(begin + 300ms);
  EXPECT_EQ(table.next(), begin + 25ms);
  table.start(begin + 300ms);
  EXPECT_EQ(table.next(), begin + 45ms);
  EXPECT_EQ(table.started(), 2U);
  EXPECT_FALSE(table.done());
}

TEST(Timetable, no_error_adds_up) {
  constexpr Nanoseconds every = 33'333'333ns;
  Timetable table({.every = every});
  table.begin(begin);
  for (int i = 0; i < 1'000'000; ++i) table.start(*table.next() + 1us);
  EXPECT_EQ(table.next(), begin + 1'000'000 * every);
}

TEST(Timetable, of_so_many_rounds_there_is_not_one_more) {
  Timetable table({.every = 100us, .rounds = 2});
  table.begin(begin);
  table.start(begin);
  EXPECT_FALSE(table.done());
  table.start(begin + 100us);
  EXPECT_TRUE(table.done());
  EXPECT_FALSE(table.next());
}

TEST(Timetable, of_no_rounds_there_is_none) {
  Timetable table({.pace = Pace::closed_from_end, .rounds = 0});
  table.begin(begin);
  EXPECT_FALSE(table.next());
  EXPECT_TRUE(table.done());
}

/// As the seed's runProbeRounds with `cadenceFrom: "start"`: delay(max(0, cadence − elapsed)).
TEST(Timetable, a_pace_closed_from_the_start_waits_for_the_end) {
  Timetable table({.pace = Pace::closed_from_start, .every = 100ms});
  table.begin(begin);
  EXPECT_EQ(table.next(), begin);
  table.start(begin + 2ms);
  EXPECT_FALSE(table.next());
  table.ended(begin + 30ms);
  EXPECT_EQ(table.next(), begin + 102ms);
  table.start(begin + 102ms);
  table.ended(begin + 702ms);
  EXPECT_EQ(table.next(), begin + 702ms);
}

TEST(Timetable, a_pace_closed_from_the_end_rests_for_a_whole_cadence) {
  Timetable table({.pace = Pace::closed_from_end, .every = 100ms});
  table.begin(begin);
  table.start(begin);
  table.ended(begin + 30ms);
  EXPECT_EQ(table.next(), begin + 130ms);
}

TEST(Timetable, a_closed_pace_is_done_when_its_last_round_is_over) {
  Timetable table({.pace = Pace::closed_from_start, .every = 1ms, .rounds = 1});
  table.begin(begin);
  table.ended(begin);  // of no round
  EXPECT_EQ(table.next(), begin);
  table.start(begin);
  EXPECT_FALSE(table.done());
  table.ended(begin + 5ms);
  EXPECT_TRUE(table.done());
  EXPECT_FALSE(table.next());
}

TEST(Timetable, once_stopped_nothing_starts) {
  for (const Pace pace : {Pace::open, Pace::closed_from_start, Pace::closed_from_end}) {
    Timetable table({.pace = pace});
    table.begin(begin);
    table.start(begin);
    table.stop();
    EXPECT_TRUE(table.done());
    table.ended(begin + 1ms);
    table.begin(begin + 2ms);
    EXPECT_FALSE(table.next());
  }
}

}  // namespace
}  // namespace tare::load
