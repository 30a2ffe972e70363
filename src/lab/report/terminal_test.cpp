#include "lab/report/terminal.hpp"

#include <cstdio>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace tare::report {
namespace {

TerminalProbe a_terminal() {
  TerminalProbe probe;
  probe.device = TerminalProbe::Device::terminal;
  probe.device_columns = 132;
  probe.term = "xterm-256color";
  return probe;
}

TEST(Terminal, a_terminal_has_colour_its_own_width_and_a_cursor) {
  const TerminalFacts facts = decide(a_terminal());
  EXPECT_TRUE(facts.interactive);
  EXPECT_EQ(facts.colour, Colour::on);
  EXPECT_EQ(facts.width, 132u);
}

TEST(Terminal, a_pipe_has_no_colour_no_cursor_and_the_default_width) {
  TerminalProbe probe;
  probe.term = "xterm-256color";
  const TerminalFacts facts = decide(probe);
  EXPECT_FALSE(facts.interactive);
  EXPECT_EQ(facts.colour, Colour::off);
  EXPECT_EQ(facts.width, default_width);
}

TEST(Terminal, no_color_turns_colour_off_unless_it_is_empty) {
  TerminalProbe probe = a_terminal();
  probe.no_color = "1";
  EXPECT_EQ(decide(probe).colour, Colour::off);
  EXPECT_TRUE(decide(probe).interactive);
  probe.no_color = "";
  EXPECT_EQ(decide(probe).colour, Colour::on);
}

TEST(Terminal, a_dumb_terminal_has_neither_colour_nor_cursor) {
  TerminalProbe probe = a_terminal();
  probe.term = "dumb";
  EXPECT_FALSE(decide(probe).interactive);
  EXPECT_EQ(decide(probe).colour, Colour::off);
}

TEST(Terminal, columns_beats_the_device_when_it_is_a_number) {
  TerminalProbe probe = a_terminal();
  probe.columns = "61";
  EXPECT_EQ(decide(probe).width, 61u);
  for (const char* junk : {"", "0", "-3", "wide", "80x24"}) {
    probe.columns = junk;
    EXPECT_EQ(decide(probe).width, 132u) << junk;
  }
  probe.columns = "99999999";
  EXPECT_EQ(decide(probe).width, 10'000u);
}

TEST(Terminal, a_terminal_that_does_not_know_its_width_gets_the_default) {
  TerminalProbe probe = a_terminal();
  probe.device_columns = 0;
  EXPECT_EQ(decide(probe).width, default_width);
}

TEST(Terminal, paints_only_what_has_a_tone) {
  EXPECT_EQ(paint("pass", Tone::good, Colour::on), "\x1b[32mpass\x1b[0m");
  EXPECT_EQ(paint("fail", Tone::bad, Colour::on), "\x1b[31mfail\x1b[0m");
  EXPECT_EQ(paint("27.9", Tone::plain, Colour::on), "27.9");
  EXPECT_EQ(paint("fail", Tone::bad, Colour::off), "fail");
  EXPECT_EQ(paint("", Tone::bad, Colour::on), "");
}

TEST(DescriptorTerminal, writes_to_a_pipe_and_says_that_it_is_none) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  DescriptorTerminal terminal(ends[1]);
  EXPECT_FALSE(terminal.facts().interactive);
  terminal.write("hello");
  char got[8] = {};
  EXPECT_EQ(::read(ends[0], got, sizeof got), 5);
  EXPECT_STREQ(got, "hello");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(DescriptorTerminal, a_closed_descriptor_is_no_error) {
  DescriptorTerminal terminal(-1);
  EXPECT_FALSE(terminal.facts().interactive);
  terminal.write("for nobody");
}

}  // namespace
}  // namespace tare::report
