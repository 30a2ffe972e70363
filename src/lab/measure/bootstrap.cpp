#include "lab/measure/bootstrap.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/measure/random.hpp"

namespace tare::measure {
namespace {

enum class Resampling { rounds, sides };

/// The quantile of scratch values, whose order is lost.
double take_quantile(std::vector<double>& values, double q) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(quantile_index(values.size(), q));
  std::ranges::nth_element(values, at);
  return *at;
}

/// The middle 95 % of `values`, widened to contain `point`.
Interval percentile_interval(std::vector<double>& values, double point) {
  std::ranges::sort(values);
  const double low = quantile_of_sorted(values, 0.025);
  const double high = quantile_of_sorted(values, 0.975);
  return {std::min(low, point), std::max(high, point)};
}

void add_intervals(Comparison& result, std::span<const double> subject, std::span<const double> reference,
                   double q, Random random, std::size_t resamples, Resampling resampling) {
  std::vector<double> ratios;
  std::vector<double> differences;
  std::vector<double> left(subject.size());
  std::vector<double> right(reference.size());
  for (std::size_t run = 0; run < resamples; ++run) {
    if (resampling == Resampling::rounds) {
      for (std::size_t i = 0; i < left.size(); ++i) {
        const auto round = static_cast<std::size_t>(random.below(left.size()));
        left[i] = subject[round];
        right[i] = reference[round];
      }
    } else {
      for (double& value : left) value = subject[static_cast<std::size_t>(random.below(left.size()))];
      for (double& value : right) value = reference[static_cast<std::size_t>(random.below(right.size()))];
    }
    const double a = take_quantile(left, q);
    const double b = take_quantile(right, q);
    differences.push_back(a - b);
    if (result.ratio && a > 0 && b > 0) ratios.push_back(a / b);
  }
  result.difference_interval = percentile_interval(differences, *result.difference);
  // A resample whose quantile is below resolution has no ratio, and leaving it out would narrow the interval.
  if (result.ratio && ratios.size() == resamples) {
    result.ratio_interval = percentile_interval(ratios, *result.ratio);
    result.coverage = 0.95;
  } else if (result.ratio) {
    result.notes.emplace_back("interval of the ratio n/a: some resamples are below clock resolution");
  }
}

Comparison compare(std::span<const double> subject, std::span<const double> reference, double q,
                   std::uint64_t seed, std::size_t resamples, Resampling resampling) {
  Comparison result;
  result.pairs = std::min(subject.size(), reference.size());
  const bool paired = resampling == Resampling::rounds;
  result.method = fmt::format("ratio of {}th percentiles, bootstrap over {} ({} resamples, seed {})",
                              text::significant(q * 100), paired ? "rounds" : "each side", resamples, seed);
  if (result.pairs == 0) {
    result.notes.emplace_back(paired ? "no pairs" : "no samples");
    return result;
  }
  if (result.pairs < smallest_n(q)) {
    result.notes.push_back(not_carried(q));
    return result;
  }
  std::vector<double> left(subject.begin(), subject.end());
  std::vector<double> right(reference.begin(), reference.end());
  const double a = take_quantile(left, q);
  const double b = take_quantile(right, q);
  result.difference = a - b;
  if (a > 0 && b > 0) {
    result.ratio = a / b;
  } else {
    result.notes.emplace_back("ratio n/a: a quantile is below clock resolution (≤ 0)");
  }
  if (result.pairs < smallest_n_for_interval(q) || resamples == 0) {
    result.notes.push_back(fmt::format("interval n/a (n<{})", smallest_n_for_interval(q)));
    return result;
  }
  add_intervals(result, subject, reference, q, Random(seed), resamples, resampling);
  return result;
}

}  // namespace

Comparison quantile_ratio_paired(std::span<const double> subject, std::span<const double> reference, double q,
                                 std::uint64_t seed, std::size_t resamples) {
  if (subject.size() != reference.size()) {
    throw Error(ErrorCode::failed, "paired samples are not paired",
                fmt::format("{} and {} rounds", subject.size(), reference.size()));
  }
  return compare(subject, reference, q, seed, resamples, Resampling::rounds);
}

Comparison quantile_ratio_unpaired(std::span<const double> subject, std::span<const double> reference,
                                   double q, std::uint64_t seed, std::size_t resamples) {
  return compare(subject, reference, q, seed, resamples, Resampling::sides);
}

}  // namespace tare::measure
