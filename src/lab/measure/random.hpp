#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tare::measure {

/// A number that looks nothing like `seed` or `stream`: gives each use of one seed its own sequence.
/// One step of SplitMix64 (G. Steele, D. Lea, C. Flood, 2014) over both.
std::uint64_t mix(std::uint64_t seed, std::uint64_t stream);

/// xoshiro256** (D. Blackman, S. Vigna, 2018), seeded by SplitMix64. A seed gives the same sequence on
/// every machine and with every standard library, which std::shuffle and the std distributions don't.
/// Not for secrets. One object belongs to one thread.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t next();

  /// Uniform in 0..n−1 without bias, by rejection (D. Lemire, 2019). `n` ≥ 1.
  std::uint64_t below(std::uint64_t n);

  /// Uniform in [0, 1), with 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// Puts the items in a uniformly random order (Fisher–Yates).
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[static_cast<std::size_t>(below(left))]);
    }
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

/// In which order the lanes of a round run: a permutation of 0..lanes−1. Rounds come in pairs, an even
/// round has a seeded permutation and the odd one after it the reverse (ABBA), so that a linear drift
/// weighs on all lanes of a pair alike.
std::vector<std::size_t> lane_order(std::uint64_t seed, std::uint64_t round, std::size_t lanes);

}  // namespace tare::measure
