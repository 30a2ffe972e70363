#include "lab/measure/outliers.hpp"

#include <algorithm>

#include "lab/measure/quantile.hpp"

namespace tare::measure {

namespace {

/// Sorts samples by the fences of the given quartiles as they come.
class Fences {
 public:
  Fences(double first_quartile, double third_quartile) : first_(first_quartile), third_(third_quartile) {}

  void add(double sample, std::uint64_t times) {
    const double sum = sample * static_cast<double>(times);
    total_ += sum;
    negative_ = negative_ || sample < 0;
    const double range = third_ - first_;
    const double distance = std::max(first_ - sample, sample - third_);
    if (distance <= 1.5 * range) return;
    outside_ += sum;
    (distance <= 3 * range ? outliers_.mild : outliers_.severe) += times;
  }

  Outliers take() {
    outliers_.count = outliers_.mild + outliers_.severe;
    if (!negative_ && total_ > 0) outliers_.time_share = std::clamp(outside_ / total_, 0.0, 1.0);
    return outliers_;
  }

 private:
  double first_;
  double third_;
  double total_ = 0;
  double outside_ = 0;
  bool negative_ = false;
  Outliers outliers_;
};

}  // namespace

Outliers count_outliers(std::span<const double> samples, double first_quartile, double third_quartile) {
  Fences fences(first_quartile, third_quartile);
  for (const double sample : samples) fences.add(sample, 1);
  return fences.take();
}

Outliers count_outliers(std::span<const Repeated> samples, double first_quartile, double third_quartile) {
  Fences fences(first_quartile, third_quartile);
  for (const auto& [value, times] : samples) fences.add(value, times);
  return fences.take();
}

std::optional<Outliers> outliers_of_sorted(std::span<const double> sorted) {
  if (sorted.size() < smallest_n_for_outliers) return std::nullopt;
  return count_outliers(sorted, quantile_of_sorted(sorted, 0.25), quantile_of_sorted(sorted, 0.75));
}

}  // namespace tare::measure
