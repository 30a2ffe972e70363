#include "lab/load/timetable.hpp"

#include <algorithm>

namespace tare::load {

void Timetable::begin(Instant now) {
  if (done_) return;
  first_ = now + schedule_.first_after;
  if (has_rounds()) {
    next_ = first_;
  } else {
    done_ = true;
  }
}

void Timetable::start(Instant now) {
  ++started_;
  next_.reset();
  if (schedule_.pace == Pace::open) {
    // From the first one, so that no error adds up.
    if (has_rounds()) {
      next_ = first_ + schedule_.every * static_cast<std::int64_t>(started_);
    } else {
      done_ = true;
    }
    return;
  }
  last_start_ = now;
  round_is_open_ = true;
}

void Timetable::ended(Instant now) {
  if (!round_is_open_) return;
  round_is_open_ = false;
  if (done_) return;
  if (!has_rounds()) {
    done_ = true;
  } else if (schedule_.pace == Pace::closed_from_start) {
    next_ = std::max(now, last_start_ + schedule_.every);
  } else {
    next_ = now + schedule_.every;
  }
}

void Timetable::stop() {
  next_.reset();
  done_ = true;
}

}  // namespace tare::load
