#include "runtime/provider/fault.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace tare::provider {
namespace {

using std::chrono::milliseconds;

TEST(ParseFault, reads_names_statuses_and_settings) {
  EXPECT_EQ(parse_fault("stall", "--fault"), (Fault{.kind = FaultKind::stall}));
  EXPECT_EQ(parse_fault("cut,after=3,times=1", "--fault"),
            (Fault{.kind = FaultKind::cut, .after = 3, .times = 1}));
  EXPECT_EQ(parse_fault("429,retry-after=0.5", "--fault"),
            (Fault{.kind = FaultKind::status, .status = 429, .retry_after = milliseconds(500)}));
  EXPECT_EQ(parse_fault("500,every=10", "--fault"),
            (Fault{.kind = FaultKind::status, .status = 500, .every = 10}));
  EXPECT_EQ(parse_fault("slow,delay=2.6", "--fault"),
            (Fault{.kind = FaultKind::slow, .delay = milliseconds(3)}));
  EXPECT_EQ(parse_fault("short", "--fault").kind, FaultKind::shorten);
  EXPECT_EQ(parse_fault("bad-utf8", "--fault").kind, FaultKind::bad_utf8);
}

TEST(ParseFault, refuses_what_is_none_and_says_what_there_is) {
  for (const char* text :
       {"", "stal", "200", "600", "-500", "stall,", "stall,after", "stall,after=-1", "cut,times=0",
        "cut,every=0", "cut,delay=5", "stall,retry-after=1", "429,retry-after=x", "429,retry-after=1e9",
        "slow,delay=nan", "stall,after=99999999999999999999"}) {
    EXPECT_THROW(parse_fault(text, "--fault"), Error) << text;
  }
  try {
    parse_fault("stal", "--fault");
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(
        error.line().starts_with("tare: --fault 'stal' is not a fault (no fault 'stal'); known are stall,"))
        << error.line();
  }
}

TEST(FaultName, is_the_word_that_asks_for_it) {
  for (const char* name :
       {"stall", "cut", "short", "garbage", "bad-utf8", "split", "slow", "error", "html", "503"})
    EXPECT_EQ(name_of(parse_fault(name, "--fault")), name);
}

TEST(FaultCounter, a_fault_without_settings_always_strikes) {
  FaultCounter counter;
  const Fault stall = parse_fault("stall", "");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(counter.strikes(stall, "a"));
}

TEST(FaultCounter, times_counts_for_each_key_alone) {
  FaultCounter counter;
  const Fault twice = parse_fault("500,times=2", "");
  EXPECT_TRUE(counter.strikes(twice, "a"));
  EXPECT_TRUE(counter.strikes(twice, "b"));
  EXPECT_TRUE(counter.strikes(twice, "a"));
  EXPECT_FALSE(counter.strikes(twice, "a"));
  EXPECT_TRUE(counter.strikes(twice, "b"));
}

TEST(FaultCounter, every_strikes_the_last_of_each_group) {
  FaultCounter counter;
  const Fault third = parse_fault("500,every=3,times=1", "");
  const bool expected[] = {false, false, true, false, false, false};
  for (const bool strikes : expected) EXPECT_EQ(counter.strikes(third, "a"), strikes);
}

TEST(FaultCounter, keeps_a_bounded_number_of_keys) {
  FaultCounter counter;
  const Fault once = parse_fault("500,times=1", "");
  for (int i = 0; i < 25'000; ++i) EXPECT_TRUE(counter.strikes(once, std::to_string(i)));
}

}  // namespace
}  // namespace tare::provider
