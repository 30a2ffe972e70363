#pragma once

#include <optional>
#include <span>

namespace tare::measure {

/// From this lag-1 autocorrelation on, a report warns: at 0.3 three samples are worth fewer than two.
inline constexpr double dependence_warning = 0.3;

/// How much each sample resembles the one before it, −1..1: the first-order autocorrelation of samples in
/// the order in which they were taken (Box, Jenkins, "Time Series Analysis", 2.1). Nothing for fewer than
/// three samples or without variance.
std::optional<double> lag1(std::span<const double> in_order);

/// How many independent samples `n` samples with that autocorrelation are worth: n·(1−r)/(1+r) of a
/// first-order process, clamped to 1..n.
double effective_n(double n, double lag1);

}  // namespace tare::measure
