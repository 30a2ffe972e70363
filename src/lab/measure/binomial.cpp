#include "lab/measure/binomial.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tare::measure::binomial {
namespace {

/// ln(n!) − Stirling's approximation of it: exact products for small n, the asymptotic series beyond.
double stirling_error(double n) {
  if (n < 16) {
    double factorial = 1;
    for (double i = 2; i <= n; ++i) factorial *= i;
    if (n == 0) return 0;
    return std::log(factorial) - (n + 0.5) * std::log(n) + n - 0.5 * std::log(2 * std::numbers::pi);
  }
  const double square = n * n;
  return (1.0 / 12 -
          (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / square) / square) / square) / square) /
         n;
}

/// The deviance x·ln(x/m) + m − x, by a series where x is near m and the plain form would cancel.
double deviance(double x, double m) {
  const double d = x - m;
  if (std::abs(d) >= 0.1 * (x + m)) return x * std::log(x / m) + m - x;
  const double v = d / (x + m);
  double sum = d * v;
  double term = 2 * x * v;
  for (int j = 1; j < 1000; ++j) {
    term *= v * v;
    const double next = sum + term / (2 * j + 1);
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

/// P(B ≤ k) for k at or below the mode: terms only shrink on the way down, so the sum soon stops growing.
double sum_down(std::uint64_t k, std::uint64_t n, double p) {
  double term = pmf(k, n, p);
  double sum = term;
  for (std::uint64_t i = k; i > 0 && term > sum * 1e-18; --i) {
    term *= static_cast<double>(i) / static_cast<double>(n - i + 1) * ((1 - p) / p);
    sum += term;
  }
  return sum;
}

/// P(B ≥ k) for k at or above the mode.
double sum_up(std::uint64_t k, std::uint64_t n, double p) {
  double term = pmf(k, n, p);
  double sum = term;
  for (std::uint64_t i = k; i < n && term > sum * 1e-18; ++i) {
    term *= static_cast<double>(n - i) / static_cast<double>(i + 1) * (p / (1 - p));
    sum += term;
  }
  return sum;
}

bool below_mode(std::uint64_t k, std::uint64_t n, double p) {
  return static_cast<double>(k) < (static_cast<double>(n) + 1) * p;
}

}  // namespace

double pmf(std::uint64_t k, std::uint64_t n, double p) {
  if (k > n) return 0;
  if (p <= 0) return k == 0 ? 1 : 0;
  if (p >= 1) return k == n ? 1 : 0;
  const double total = static_cast<double>(n);
  const double hits = static_cast<double>(k);
  const double misses = static_cast<double>(n - k);
  if (k == 0) return std::exp(total * std::log1p(-p));
  if (k == n) return std::exp(total * std::log(p));
  const double exponent = stirling_error(total) - stirling_error(hits) - stirling_error(misses) -
                          deviance(hits, total * p) - deviance(misses, total * (1 - p));
  return std::exp(exponent) * std::sqrt(total / (2 * std::numbers::pi * hits * misses));
}

double cdf(std::uint64_t k, std::uint64_t n, double p) {
  if (k >= n) return 1;
  if (p <= 0) return 1;
  if (p >= 1) return 0;
  return std::min(1.0, below_mode(k, n, p) ? sum_down(k, n, p) : 1 - sum_up(k + 1, n, p));
}

double upper_tail(std::uint64_t k, std::uint64_t n, double p) {
  if (k == 0) return 1;
  if (k > n) return 0;
  if (p <= 0) return 0;
  if (p >= 1) return 1;
  return std::min(1.0, below_mode(k, n, p) ? 1 - sum_down(k - 1, n, p) : sum_up(k, n, p));
}

}  // namespace tare::measure::binomial
