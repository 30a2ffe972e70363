#include "lab/measure/moments.hpp"

#include <algorithm>
#include <cmath>

namespace tare::measure {

void Moments::add(double sample) {
  min_ = count_ == 0 ? sample : std::min(min_, sample);
  max_ = count_ == 0 ? sample : std::max(max_, sample);
  ++count_;
  const double distance = sample - mean_;
  mean_ += distance / static_cast<double>(count_);
  squares_ += distance * (sample - mean_);
}

void Moments::merge(const Moments& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  const auto mine = static_cast<double>(count_);
  const auto theirs = static_cast<double>(other.count_);
  const double distance = other.mean_ - mean_;
  mean_ += distance * (theirs / (mine + theirs));
  squares_ += other.squares_ + distance * distance * (mine * theirs / (mine + theirs));
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  count_ += other.count_;
}

std::optional<double> Moments::mean() const {
  if (count_ == 0) return std::nullopt;
  return std::clamp(mean_, min_, max_);  // rounding alone may carry it a hair outside
}

std::optional<double> Moments::stddev() const {
  if (count_ == 0) return std::nullopt;
  return std::sqrt(std::max(0.0, squares_) / static_cast<double>(count_));
}

std::optional<double> Moments::min() const {
  if (count_ == 0) return std::nullopt;
  return min_;
}

std::optional<double> Moments::max() const {
  if (count_ == 0) return std::nullopt;
  return max_;
}

}  // namespace tare::measure
