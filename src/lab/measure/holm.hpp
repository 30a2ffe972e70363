#pragma once

#include <span>
#include <vector>

namespace tare::measure {

/// p values adjusted for being several, in the order given (S. Holm, 1979): whoever acts on those at or
/// below α is wrong about any of them with a probability of at most α. The p values are in 0..1.
std::vector<double> holm(std::span<const double> p);

}  // namespace tare::measure
