#include "base/clock.hpp"

#include <ctime>

#include <fmt/format.h>

namespace tare {

Instant SystemClock::now() const {
  return std::chrono::steady_clock::now();
}

WallTime SystemClock::wall() const {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

void ManualClock::advance(Nanoseconds by) {
  now_ += by;
  wall_ += std::chrono::duration_cast<std::chrono::milliseconds>(by);
}

std::string rfc3339(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace tare
