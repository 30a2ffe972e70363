#pragma once

#include <chrono>
#include <string>

namespace tare {

using Nanoseconds = std::chrono::nanoseconds;
/// A moment of CLOCK_MONOTONIC, as the time since an arbitrary start. Only differences mean anything.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Nanoseconds>;
/// A moment of the calendar, for "startedAt" and the like; never subtracted to make a duration.
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;

/// Where time comes from. Injected, so that nothing that computes with time needs to wait for it.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
  virtual WallTime wall() const = 0;
};

/// CLOCK_MONOTONIC and CLOCK_REALTIME.
class SystemClock final : public Clock {
 public:
  Instant now() const override;
  WallTime wall() const override;
};

/// A clock that stands still until a test moves it.
class ManualClock final : public Clock {
 public:
  Instant now() const override { return now_; }
  WallTime wall() const override { return wall_; }
  void advance(Nanoseconds by);

 private:
  Instant now_{};
  WallTime wall_{};
};

/// RFC 3339 in UTC with milliseconds: "2026-01-31T12:00:00.000Z".
std::string rfc3339(WallTime time);

/// A duration as a count of milliseconds, for documents and tables.
inline double to_ms(Nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace tare
