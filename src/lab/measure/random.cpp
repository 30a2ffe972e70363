#include "lab/measure/random.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tare::measure {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;

std::uint64_t scramble(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t mix(std::uint64_t seed, std::uint64_t stream) {
  return scramble(scramble(seed + golden) + (stream + 1) * golden);
}

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = scramble(seed += golden);
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t n) {
  Wide product = static_cast<Wide>(next()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t threshold = (0 - n) % n;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>(next()) * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::vector<std::size_t> lane_order(std::uint64_t seed, std::uint64_t round, std::size_t lanes) {
  std::vector<std::size_t> order(lanes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random(mix(seed, round / 2)).shuffle(std::span(order));
  if (round % 2 == 1) std::ranges::reverse(order);
  return order;
}

}  // namespace tare::measure
