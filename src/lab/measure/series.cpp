#include "lab/measure/series.hpp"

#include <algorithm>
#include <cmath>

namespace tare::measure {

std::optional<double> lag1(std::span<const double> in_order) {
  if (in_order.size() < 3) return std::nullopt;
  double sum = 0;
  double low = in_order.front();
  double high = low;
  for (const double sample : in_order) {
    sum += sample;
    low = std::min(low, sample);
    high = std::max(high, sample);
  }
  if (low == high) return std::nullopt;  // decided on the samples: rounding may leave a variance
  const double mean = sum / static_cast<double>(in_order.size());
  double products = 0;
  double squares = 0;
  double previous = 0;
  for (const double sample : in_order) {
    const double distance = sample - mean;
    products += distance * previous;
    squares += distance * distance;
    previous = distance;
  }
  if (!(squares > 0) || !std::isfinite(products) || !std::isfinite(squares)) return std::nullopt;
  return std::clamp(products / squares, -1.0, 1.0);
}

double effective_n(double n, double lag1) {
  if (lag1 <= -1) return n;
  return std::clamp(n * (1 - lag1) / (1 + lag1), std::min(1.0, n), n);
}

}  // namespace tare::measure
