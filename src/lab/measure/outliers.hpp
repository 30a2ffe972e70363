#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <boost/describe.hpp>

namespace tare::measure {

/// Samples outside Tukey's fences (J. W. Tukey, "Exploratory Data Analysis", 1977). Reported, never removed.
struct Outliers {
  std::uint64_t count = 0;   ///< mild + severe
  std::uint64_t mild = 0;    ///< more than 1.5, at most 3 interquartile ranges outside the quartiles
  std::uint64_t severe = 0;  ///< more than 3 interquartile ranges outside
  std::optional<double>
      time_share;  ///< their sum over the sum of all, 0..1; null when a sample is negative or all are 0
  bool operator==(const Outliers&) const = default;
};
BOOST_DESCRIBE_STRUCT(Outliers, (), (count, mild, severe, time_share))

/// Fewer samples than this have no quartiles worth the name.
inline constexpr std::size_t smallest_n_for_outliers = 4;

/// Counts the samples outside the fences of the given quartiles; the order of the samples is free.
Outliers count_outliers(std::span<const double> samples, double first_quartile, double third_quartile);

/// A value that stands for so many samples, as the bucket of a histogram does.
struct Repeated {
  double value = 0;
  std::uint64_t times = 1;
};
Outliers count_outliers(std::span<const Repeated> samples, double first_quartile, double third_quartile);

/// Of ascending samples, with nearest-rank quartiles. Nothing for fewer than four.
std::optional<Outliers> outliers_of_sorted(std::span<const double> sorted);

}  // namespace tare::measure
