#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"

namespace tare::load {

/// Who says when the next request starts.
enum class Pace : std::uint8_t {
  open,               ///< the clock: one is due every cadence, whatever the last one did
  closed_from_start,  ///< the last one: a cadence after it started, but not before it ended
  closed_from_end,    ///< the last one: a cadence after it ended
};

struct Schedule {
  Pace pace = Pace::open;
  Nanoseconds every = std::chrono::milliseconds(100);  ///< above 0, with an open pace
  Nanoseconds first_after{};                           ///< from `begin` to the first start
  std::optional<std::uint64_t> rounds = {};            ///< so many starts and no more; else until `stop`
};

/// The moments of a schedule. It knows no clock: who uses it says what time it is.
class Timetable {
 public:
  explicit Timetable(Schedule schedule) : schedule_(schedule) {}

  void begin(Instant now);
  /// When the next start is due. Nothing before `begin`, while a round of a closed pace is open, and once all
  /// is done.
  std::optional<Instant> next() const { return next_; }
  /// The next start is made now. There is one.
  void start(Instant now);
  /// The round that started last is over. Nothing with an open pace, or without such a round.
  void ended(Instant now);
  void stop();

  std::uint64_t started() const { return started_; }
  /// All rounds were started (and, of a closed pace, are over), or it was stopped.
  bool done() const { return done_; }

 private:
  bool has_rounds() const { return !schedule_.rounds || started_ < *schedule_.rounds; }

  Schedule schedule_;
  Instant first_{};
  Instant last_start_{};
  std::optional<Instant> next_;
  std::uint64_t started_ = 0;
  bool round_is_open_ = false;
  bool done_ = false;
};

}  // namespace tare::load
