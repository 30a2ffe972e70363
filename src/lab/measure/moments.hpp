#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tare::measure {

/// Count, mean, population standard deviation and extremes of a stream, in one pass and constant space.
/// Welford's recurrence (B. P. Welford, 1962), merged as by Chan, Golub and LeVeque (1979): no sum of
/// squares is ever formed, so samples near 10^10 that differ by 10^2 keep their spread.
class Moments {
 public:
  Moments() = default;
  explicit Moments(std::span<const double> samples) {
    for (const double sample : samples) add(sample);
  }

  void add(double sample);

  /// As if every sample of `other` had been added here, up to rounding.
  void merge(const Moments& other);

  std::uint64_t count() const { return count_; }
  /// Nothing without samples; one sample has a deviation of 0. Always min ≤ mean ≤ max.
  std::optional<double> mean() const;
  std::optional<double> stddev() const;
  std::optional<double> min() const;
  std::optional<double> max() const;

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  ///< sum of squared distances from the mean
  double min_ = 0;
  double max_ = 0;
};

}  // namespace tare::measure
