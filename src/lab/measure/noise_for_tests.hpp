#pragma once

#include <cstdint>
#include <vector>

#include "lab/measure/random.hpp"

namespace tare::measure {

/// `n` samples between `scale` and twice that.
inline std::vector<double> noise(std::size_t n, std::uint64_t seed, double scale = 1) {
  Random random(seed);
  std::vector<double> samples(n);
  for (double& sample : samples) sample = scale * (1 + random.uniform());
  return samples;
}

}  // namespace tare::measure
