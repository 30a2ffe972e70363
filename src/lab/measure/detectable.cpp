#include "lab/measure/detectable.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/measure/random.hpp"

namespace tare::measure {
namespace {

constexpr double share = 0.95;
constexpr std::size_t fewest_pairs = 6;
constexpr std::size_t plays = 2000;

double middle(std::vector<double>& values) {
  std::ranges::sort(values);
  return midpoint_of_sorted(values);
}

double percentile(std::vector<double> effects) {
  std::ranges::sort(effects);
  return quantile_of_sorted(effects, share);
}

/// The effect that one comparison of `processes` medians a side sees, where there is none.
double play(std::span<const double> first, std::span<const double> second, Pairing pairing,
            std::uint64_t processes, Random& random) {
  std::vector<double> subject;
  std::vector<double> reference;
  for (std::uint64_t i = 0; i < processes; ++i) {
    const std::size_t pick = random.below(first.size());
    if (pairing == Pairing::paired) {
      subject.push_back(std::log(first[pick] / second[pick]));
      continue;
    }
    // Both lanes are one target, so a median of either may stand on either side.
    const auto any = [&] {
      const std::size_t at = random.below(2 * first.size());
      return at < first.size() ? first[at] : second[at - first.size()];
    };
    subject.push_back(any());
    reference.push_back(any());
  }
  if (pairing == Pairing::paired) return std::abs(std::expm1(middle(subject)));
  return std::abs(middle(subject) / middle(reference) - 1);
}

}  // namespace

std::optional<double> minimum_detectable(std::span<const double> first, std::span<const double> second,
                                         Pairing pairing, std::uint64_t processes, std::uint64_t seed) {
  if (first.size() != second.size()) {
    throw Error(ErrorCode::failed, "an A/A run has unequal sides",
                fmt::format("{} and {} processes", first.size(), second.size()));
  }
  const auto positive = [](double value) { return value > 0; };
  if (first.size() < fewest_pairs || !std::ranges::all_of(first, positive) ||
      !std::ranges::all_of(second, positive)) {
    return std::nullopt;
  }
  std::vector<double> effects;
  if (pairing == Pairing::paired && processes <= 1) {
    for (std::size_t i = 0; i < first.size(); ++i) effects.push_back(std::abs(first[i] / second[i] - 1));
    return percentile(std::move(effects));
  }
  Random random(seed);
  for (std::size_t i = 0; i < plays; ++i) {
    effects.push_back(play(first, second, pairing, std::max<std::uint64_t>(processes, 1), random));
  }
  return percentile(std::move(effects));
}

}  // namespace tare::measure
