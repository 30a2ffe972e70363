#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lab/measure/paired.hpp"

namespace tare::measure {

inline constexpr std::size_t default_resamples = 2000;

/// The same quantile of two lanes against each other (B. Efron, R. Tibshirani, "An Introduction to the
/// Bootstrap", 13.3: percentile intervals, 95 %). The point is quantile ÷ quantile of all samples; the
/// interval comes from resampling, always contains the point, and is the same for the same seed. No point
/// below `smallest_n(q)`, no interval below `smallest_n_for_interval(q)`. Time is resamples × samples.
///
/// Paired: whole rounds are resampled, so that what a round did to both lanes stays together. Throws
/// Error(failed) when the series are not equally long.
Comparison quantile_ratio_paired(std::span<const double> subject, std::span<const double> reference, double q,
                                 std::uint64_t seed, std::size_t resamples = default_resamples);

/// Unpaired: each side is resampled by itself. `pairs` is the size of the smaller side.
Comparison quantile_ratio_unpaired(std::span<const double> subject, std::span<const double> reference,
                                   double q, std::uint64_t seed, std::size_t resamples = default_resamples);

}  // namespace tare::measure
