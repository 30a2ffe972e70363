#include "lab/load/series.hpp"

#include <numeric>
#include <utility>

#include "lab/measure/quantile.hpp"

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
  } else {
    failures_.record(sample.latency());
  }
  if (samples_.size() < most_samples_) samples_.push_back(std::move(sample));
}

std::uint64_t Series::ended() const {
  return std::accumulate(outcomes_.begin(), outcomes_.end(), std::uint64_t{0});
}

std::optional<Nanoseconds> Series::pessimistic(double q) const {
  if (due_ == 0) return std::nullopt;
  const std::uint64_t rank = measure::quantile_index(due_, q) + 1;
  const std::uint64_t carried = latency_.count();
  if (rank > carried) return std::nullopt;
  return latency_.quantile(static_cast<double>(rank) / static_cast<double>(carried));
}

}  // namespace tare::load
