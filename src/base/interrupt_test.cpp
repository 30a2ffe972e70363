#include "base/interrupt.hpp"

#include <gtest/gtest.h>
#include <poll.h>

namespace tare {
namespace {

bool readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

TEST(Interrupt, is_quiet_until_a_signal_arrives) {
  const Interrupt interrupt;
  EXPECT_FALSE(readable(interrupt.fd()));
  EXPECT_EQ(interrupt.signal(), std::nullopt);
}

TEST(Interrupt, keeps_the_signal_and_does_not_kill_the_process) {
  {
    const Interrupt interrupt;
    raise(SIGTERM);
    EXPECT_TRUE(readable(interrupt.fd()));
    EXPECT_EQ(interrupt.signal(), SIGTERM);
    EXPECT_EQ(interrupt.signal(), SIGTERM);
  }
  const Interrupt next;
  EXPECT_EQ(next.signal(), std::nullopt);
}

}  // namespace
}  // namespace tare
