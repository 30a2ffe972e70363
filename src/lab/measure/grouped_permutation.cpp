#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "lab/measure/permutation.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/measure/random.hpp"

namespace tare::measure {
namespace {

struct Labelled {
  double value;
  std::uint32_t process;
};

/// The samples of all processes from the largest down, so that a high quantile is found after few of them.
class Pool {
 public:
  Pool(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
    for (const auto* side : {&a, &b}) {
      for (const std::vector<double>& process : *side) {
        for (const double value : process)
          samples_.push_back({value, static_cast<std::uint32_t>(sizes_.size())});
        sizes_.push_back(process.size());
      }
    }
    std::ranges::sort(samples_, std::greater<>(), &Labelled::value);
  }

  /// |quantile of the chosen processes − quantile of the others|.
  double difference(const std::vector<char>& chosen, double q) const {
    std::size_t size = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) size += chosen[i] != 0 ? sizes_[i] : 0;
    // How many samples of a side are at or above its quantile.
    std::size_t find_chosen = size - quantile_index(size, q);
    std::size_t find_other = samples_.size() - size - quantile_index(samples_.size() - size, q);
    double chosen_quantile = 0;
    double other_quantile = 0;
    for (const Labelled& sample : samples_) {
      if (chosen[sample.process] != 0) {
        if (find_chosen > 0 && --find_chosen == 0) chosen_quantile = sample.value;
      } else if (find_other > 0 && --find_other == 0) {
        other_quantile = sample.value;
      }
      if (find_chosen == 0 && find_other == 0) break;
    }
    return std::abs(chosen_quantile - other_quantile);
  }

 private:
  std::vector<Labelled> samples_;
  std::vector<std::size_t> sizes_;
};

/// n over k, or one more than `limit` when it is larger than that.
std::size_t choices(std::size_t n, std::size_t k, std::size_t limit) {
  double count = 1;
  for (std::size_t i = 1; i <= k; ++i) {
    count = count * static_cast<double>(n - k + i) / static_cast<double>(i);
    if (count > static_cast<double>(limit) + 0.5) return limit + 1;
  }
  return static_cast<std::size_t>(std::llround(count));
}

std::size_t total_size(const std::vector<std::vector<double>>& side) {
  return std::accumulate(side.begin(), side.end(), std::size_t{0},
                         [](std::size_t sum, const auto& process) { return sum + process.size(); });
}

bool has_empty(const std::vector<std::vector<double>>& side) {
  return side.empty() || std::ranges::any_of(side, [](const auto& process) { return process.empty(); });
}

double quantile_of(std::vector<double> values, double q) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(quantile_index(values.size(), q));
  std::ranges::nth_element(values, at);
  return *at;
}

}  // namespace

std::optional<double> process_permutation_test(const std::vector<std::vector<double>>& a,
                                               const std::vector<std::vector<double>>& b, double q,
                                               std::uint64_t seed, std::size_t permutations) {
  if (has_empty(a) || has_empty(b) || std::min(total_size(a), total_size(b)) < smallest_n(q))
    return std::nullopt;
  const Pool pool(a, b);
  std::vector<char> chosen(a.size() + b.size(), 0);
  std::fill_n(chosen.begin(), a.size(), char{1});
  const double observed = pool.difference(chosen, q);
  std::size_t hits = 0;
  if (const std::size_t all = choices(chosen.size(), a.size(), permutations); all <= permutations) {
    std::ranges::sort(chosen);
    do {
      hits += pool.difference(chosen, q) >= observed;
    } while (std::ranges::next_permutation(chosen).found);
    return static_cast<double>(hits) / static_cast<double>(all);
  }
  Random random(seed);
  for (std::size_t run = 0; run < permutations; ++run) {
    random.shuffle(std::span(chosen));
    hits += pool.difference(chosen, q) >= observed;
  }
  return static_cast<double>(hits + 1) / static_cast<double>(permutations + 1);
}

std::optional<double> paired_permutation_test(std::span<const double> a, std::span<const double> b, double q,
                                              std::uint64_t seed, std::size_t permutations) {
  if (a.size() != b.size()) {
    throw Error(ErrorCode::failed, "paired samples are not paired",
                fmt::format("{} and {} rounds", a.size(), b.size()));
  }
  if (a.size() < smallest_n(q)) return std::nullopt;
  std::vector<double> first(a.begin(), a.end());
  std::vector<double> second(b.begin(), b.end());
  const auto statistic = [&] { return std::abs(quantile_of(first, q) - quantile_of(second, q)); };
  const double observed = statistic();
  Random random(seed);
  std::size_t hits = 0;
  for (std::size_t run = 0; run < permutations; ++run) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (random.below(2) == 1) std::swap(first[i], second[i]);
    }
    hits += statistic() >= observed;
  }
  return static_cast<double>(hits + 1) / static_cast<double>(permutations + 1);
}

}  // namespace tare::measure
