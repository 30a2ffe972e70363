#include "lab/load/series.hpp"

#include <numeric>
#include <utility>

namespace tare::load {
namespace {

constexpr Nanoseconds late_after = std::chrono::milliseconds(1);

}  // namespace

void Series::add(Sample sample) {
  const Nanoseconds error = sample.sent - sample.due;
  start_error_.record(error);
  if (error > late_after) ++late_;
  ++outcomes_.at(static_cast<std::size_t>(sample.outcome));
  if (sample.outcome == Outcome::ok) {
    latency_.record(sample.latency());
    service_.record(sample.service());
  }
  if (samples_.size() < most_samples_) samples_.push_back(std::move(sample));
}

std::uint64_t Series::ended() const {
  return std::accumulate(outcomes_.begin(), outcomes_.end(), std::uint64_t{0});
}

}  // namespace tare::load
