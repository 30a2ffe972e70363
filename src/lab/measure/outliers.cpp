#include "lab/measure/outliers.hpp"

#include <algorithm>

#include "lab/measure/quantile.hpp"

namespace tare::measure {

Outliers count_outliers(std::span<const double> samples, double first_quartile, double third_quartile) {
  const double range = third_quartile - first_quartile;
  Outliers outliers;
  double total = 0;
  double outside = 0;
  bool negative = false;
  for (const double sample : samples) {
    total += sample;
    negative = negative || sample < 0;
    const double distance = std::max(first_quartile - sample, sample - third_quartile);
    if (distance <= 1.5 * range) continue;
    outside += sample;
    ++(distance <= 3 * range ? outliers.mild : outliers.severe);
  }
  outliers.count = outliers.mild + outliers.severe;
  if (!negative && total > 0) outliers.time_share = std::clamp(outside / total, 0.0, 1.0);
  return outliers;
}

std::optional<Outliers> outliers_of_sorted(std::span<const double> sorted) {
  if (sorted.size() < smallest_n_for_outliers) return std::nullopt;
  return count_outliers(sorted, quantile_of_sorted(sorted, 0.25), quantile_of_sorted(sorted, 0.75));
}

}  // namespace tare::measure
