#pragma once

#include <algorithm>
#include <chrono>
#include <sched.h>

namespace tare::guest {

/// Looks for something before its thread sleeps for it. Two that talk to and fro then meet without a sleep
/// between, which costs more than their work where processors are virtual: to wake one took 40 µs. It begins
/// with the ninth sleep, as most that wait do so only a few times, and after a failure looks half as often,
/// down to once in 1,024 times.
class Eager {
 public:
  /// Calls `look` for up to 150 µs until it is true. Lets others run in between.
  template <class Look>
  bool sees(Look look) {
    if (skips_ > 0) {
      --skips_;
      return false;
    }
    const auto end = std::chrono::steady_clock::now() + span;
    do {
      if (look()) {
        failures_ = 0;
        return true;
      }
      ::sched_yield();
    } while (std::chrono::steady_clock::now() < end);
    failures_ = std::min(failures_ + 1, most_failures);
    skips_ = (1 << failures_) - 1;
    return false;
  }

 private:
  static constexpr std::chrono::microseconds span{150};
  static constexpr int most_failures = 10;
  int failures_ = 0;
  int skips_ = 8;
};

}  // namespace tare::guest
