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
  std::uint32_t group;
};

/// Samples in groups that keep together, from the largest down: a high quantile is found after few of them,
/// so no more are put in order than the labels so far asked for.
class Pool {
 public:
  /// `samples`: how many will be added.
  Pool(double q, std::size_t samples) : q_(q) { samples_.reserve(samples); }

  void add(std::span<const double> group) {
    for (const double value : group) samples_.push_back({value, groups_});
    ++groups_;
  }

  /// |quantile of the chosen groups − quantile of the others|. `size`: of all chosen ones together.
  double difference(const std::vector<char>& chosen, std::size_t size) {
    // How many samples of a side are at or above its quantile.
    std::size_t find_chosen = size - quantile_index(size, q_);
    std::size_t find_other = samples_.size() - size - quantile_index(samples_.size() - size, q_);
    std::size_t seen = 0;
    // Counting without a branch on the label, which no processor can foresee.
    const auto next_is_chosen = [&]() -> std::size_t {
      if (seen == sorted_) sort_more();
      return chosen[samples_[seen++].group] != 0 ? 1 : 0;
    };
    while (find_chosen > 0 && find_other > 0) {
      const std::size_t is_chosen = next_is_chosen();
      find_chosen -= is_chosen;
      find_other -= 1 - is_chosen;
    }
    const double larger = samples_[seen - 1].value;
    while (find_chosen > 0) find_chosen -= next_is_chosen();
    while (find_other > 0) find_other -= 1 - next_is_chosen();
    return larger - samples_[seen - 1].value;
  }

 private:
  /// A little more than two sides alike need, then four times as many each time.
  void sort_more() {
    const auto alike = static_cast<std::size_t>((1 - q_) * 1.25 * static_cast<double>(samples_.size())) + 64;
    const std::size_t end = std::min(samples_.size(), sorted_ == 0 ? alike : 4 * sorted_);
    const auto at = [&](std::size_t i) { return samples_.begin() + static_cast<std::ptrdiff_t>(i); };
    if (end < samples_.size())
      std::ranges::nth_element(at(sorted_), at(end), samples_.end(), std::greater<>(), &Labelled::value);
    std::ranges::sort(at(sorted_), at(end), std::greater<>(), &Labelled::value);
    sorted_ = end;
  }

  double q_;
  std::vector<Labelled> samples_;
  std::uint32_t groups_ = 0;
  std::size_t sorted_ = 0;  ///< so many of `samples_` are in their place
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

}  // namespace

std::optional<double> process_permutation_test(const std::vector<std::vector<double>>& a,
                                               const std::vector<std::vector<double>>& b, double q,
                                               std::uint64_t seed, std::size_t permutations) {
  if (has_empty(a) || has_empty(b) || std::min(total_size(a), total_size(b)) < smallest_n(q))
    return std::nullopt;
  Pool pool(q, total_size(a) + total_size(b));
  std::vector<std::size_t> sizes;
  for (const auto* side : {&a, &b}) {
    for (const std::vector<double>& process : *side) {
      pool.add(process);
      sizes.push_back(process.size());
    }
  }
  std::vector<char> chosen(sizes.size(), 0);
  std::fill_n(chosen.begin(), a.size(), char{1});
  const auto statistic = [&] {
    std::size_t size = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) size += chosen[i] != 0 ? sizes[i] : 0;
    return pool.difference(chosen, size);
  };
  const double observed = statistic();
  std::size_t hits = 0;
  if (const std::size_t all = choices(chosen.size(), a.size(), permutations); all <= permutations) {
    std::ranges::sort(chosen);
    do {
      hits += statistic() >= observed;
    } while (std::ranges::next_permutation(chosen).found);
    return static_cast<double>(hits) / static_cast<double>(all);
  }
  Random random(seed);
  for (std::size_t run = 0; run < permutations; ++run) {
    random.shuffle(std::span(chosen));
    hits += statistic() >= observed;
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
  // Each sample is a group; a pair is swapped by swapping the labels of its two.
  Pool pool(q, 2 * a.size());
  std::vector<char> first;
  for (std::size_t i = 0; i < a.size(); ++i) {
    pool.add(a.subspan(i, 1));
    pool.add(b.subspan(i, 1));
    first.insert(first.end(), {char{1}, char{0}});
  }
  const double observed = pool.difference(first, a.size());
  Random random(seed);
  std::size_t hits = 0;
  for (std::size_t run = 0; run < permutations; ++run) {
    for (std::size_t i = 0; i < first.size(); i += 2) {
      const auto flip = static_cast<char>(random.below(2));
      first[i] = static_cast<char>(first[i] ^ flip);
      first[i + 1] = static_cast<char>(first[i + 1] ^ flip);
    }
    hits += pool.difference(first, a.size()) >= observed;
  }
  return static_cast<double>(hits + 1) / static_cast<double>(permutations + 1);
}

}  // namespace tare::measure
