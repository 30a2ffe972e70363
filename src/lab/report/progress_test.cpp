#include "lab/report/progress.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace tare::report {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class FakeTerminal final : public Terminal {
 public:
  TerminalFacts facts() const override { return what; }
  void write(std::string_view text) override { writes.emplace_back(text); }

  TerminalFacts what{true, Colour::on, 80};
  std::vector<std::string> writes;
};

const std::string erase = "\r\x1b[2K";

TEST(Progress, shows_bar_row_round_and_time_left) {
  FakeTerminal terminal;
  ManualClock clock;
  Progress progress(terminal, clock);
  progress.update({"nested_8", 0, 200, 0, 400});
  clock.advance(100s);
  progress.update({"nested_8", 128, 200, 264, 400});
  EXPECT_EQ(terminal.writes.back(), erase + "  ██████████████░░░░░░░░  nested_8  128/200  0:52 left");
}

TEST(Progress, a_pipe_sees_nothing) {
  FakeTerminal terminal;
  terminal.what.interactive = false;
  ManualClock clock;
  {
    Progress progress(terminal, clock);
    progress.update("row", 1, 2);
    clock.advance(1s);
    progress.update("row", 2, 2);
  }
  EXPECT_THAT(terminal.writes, IsEmpty());
}

TEST(Progress, draws_at_most_ten_times_a_second) {
  FakeTerminal terminal;
  ManualClock clock;
  Progress progress(terminal, clock);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    progress.update("row", i, 1000);
    clock.advance(1ms);
  }
  EXPECT_EQ(terminal.writes.size(), 10u);
}

TEST(Progress, erases_its_line_once_at_the_end) {
  FakeTerminal terminal;
  ManualClock clock;
  {
    Progress progress(terminal, clock);
    progress.update("row", 1, 2);
    progress.finish();
    EXPECT_EQ(terminal.writes.back(), erase);
  }
  EXPECT_EQ(terminal.writes.size(), 2u);
}

TEST(Progress, erases_nothing_when_nothing_was_drawn) {
  FakeTerminal terminal;
  ManualClock clock;
  {
    Progress progress(terminal, clock);
  }
  EXPECT_THAT(terminal.writes, IsEmpty());
}

TEST(Progress, makes_no_guess_before_two_seconds_of_work) {
  FakeTerminal terminal;
  ManualClock clock;
  Progress progress(terminal, clock);
  progress.update("row", 0, 100);
  clock.advance(1s);
  progress.update("row", 50, 100);
  EXPECT_EQ(progress.time_left(), std::nullopt);
  EXPECT_THAT(terminal.writes.back(), EndsWith("row  50/100"));
}

TEST(Progress, follows_the_pace_of_late) {
  FakeTerminal terminal;
  ManualClock clock;
  Progress progress(terminal, clock);
  std::uint64_t done = 0;
  progress.update("row", done, 2000);
  for (; done < 1000; clock.advance(10ms)) progress.update("row", ++done, 2000);
  EXPECT_NEAR(to_ms(*progress.time_left()), 10'000, 200);
  for (; done < 1500; clock.advance(1s)) progress.update("row", ++done, 2000);
  EXPECT_NEAR(to_ms(*progress.time_left()), 500'000, 5'000);
}

TEST(Progress, starts_anew_when_the_work_changes) {
  FakeTerminal terminal;
  ManualClock clock;
  Progress progress(terminal, clock);
  progress.update("row", 0, 100);
  clock.advance(10s);
  progress.update("row", 50, 100);
  EXPECT_TRUE(progress.time_left().has_value());
  progress.update("next", 0, 300);
  EXPECT_EQ(progress.time_left(), std::nullopt);
}

TEST(Progress, survives_zero_work_and_more_than_all_of_it) {
  FakeTerminal terminal;
  ManualClock clock;
  Progress progress(terminal, clock);
  progress.update("row", 0, 0);
  clock.advance(3s);
  progress.update("row", 7, 5);
  clock.advance(3s);
  progress.update("row", 9, 5);
  EXPECT_EQ(progress.time_left(), Nanoseconds(0));
}

TEST(Progress, stays_within_the_terminal) {
  for (std::size_t width = 1; width <= 120; ++width) {
    FakeTerminal terminal;
    terminal.what.width = width;
    ManualClock clock;
    Progress progress(terminal, clock);
    progress.update({"a_row_with_界_in_it\n", 1, 200, 1, 200});
    const std::string drawn = terminal.writes.back().substr(erase.size());
    EXPECT_TRUE(drawn.empty() || text::width(drawn) < width) << width;
    EXPECT_THAT(drawn, Not(HasSubstr("\n")));
  }
}

TEST(ClockText, reads_like_a_clock) {
  EXPECT_EQ(clock_text(0s), "0:00");
  EXPECT_EQ(clock_text(9s), "0:09");
  EXPECT_EQ(clock_text(72s), "1:12");
  EXPECT_EQ(clock_text(7384s), "2:03:04");
  EXPECT_EQ(clock_text(-5s), "0:00");
}

}  // namespace
}  // namespace tare::report
