#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/measure/paired.hpp"
#include "lab/measure/permutation.hpp"
#include "lab/measure/quantile.hpp"
#include "lab/measure/random.hpp"

namespace tare::measure {
namespace {

using Processes = std::vector<std::vector<double>>;

/// By sorting everything, as plainly as can be.
double plain_quantile(std::vector<double> samples, double q) {
  std::ranges::sort(samples);
  return quantile_of_sorted(samples, q);
}

std::vector<double> uniform(std::size_t count, double from, Random& random) {
  std::vector<double> samples(count);
  for (double& sample : samples) sample = from + random.uniform();
  return samples;
}

TEST(SignTest, exact_values) {
  // 2 · P(B(6, ½) = 6) = 2/64; zeros are left out.
  EXPECT_DOUBLE_EQ(sign_test(std::vector<double>{1, 2, 3, 4, 5, 6}), 2.0 / 64);
  EXPECT_DOUBLE_EQ(sign_test(std::vector<double>{-1, -2, -3, -4, -5, -6, 0, 0}), 2.0 / 64);
  // 2 · P(B(5, ½) ≥ 4) = 2 · 6/32.
  EXPECT_DOUBLE_EQ(sign_test(std::vector<double>{1, 1, 1, 1, -1}), 12.0 / 32);
  EXPECT_DOUBLE_EQ(sign_test(std::vector<double>{1, -1}), 1);
  EXPECT_DOUBLE_EQ(sign_test(std::vector<double>{0, 0}), 1);
  EXPECT_DOUBLE_EQ(sign_test({}), 1);
}

TEST(ProcessPermutation, counts_every_relabelling_once) {
  // The split as it is and its mirror are the most extreme of 4 over 2 = 6.
  EXPECT_DOUBLE_EQ(process_permutation_test({{1}, {2}}, {{8}, {9}}, 0.5, 1).value(), 2.0 / 6);
  // Four a side, medians 2 and 7: as far apart is 1, 2 and one of 3, 4, 6 against the rest, and each
  // mirrored.
  EXPECT_DOUBLE_EQ(process_permutation_test({{1}, {2}, {3}, {4}}, {{6}, {7}, {8}, {9}}, 0.5, 1).value(),
                   6.0 / 70);
}

TEST(ProcessPermutation, agrees_with_sorting_each_relabelling_when_the_sides_lie_far_apart) {
  // The quantile of the lower side is deep below all samples of the upper one.
  for (const double shift : {0.0, 0.05, 5.0}) {
    Random random(7);
    Processes all;
    for (std::size_t process = 0; process < 6; ++process)
      all.push_back(uniform(100 + 10 * process, process < 3 ? 0 : shift, random));
    const auto difference = [&](const std::vector<char>& chosen) {
      std::vector<double> sides[2];
      for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<double>& side = sides[static_cast<std::size_t>(chosen[i])];
        side.insert(side.end(), all[i].begin(), all[i].end());
      }
      return std::abs(plain_quantile(sides[0], 0.95) - plain_quantile(sides[1], 0.95));
    };
    const double observed = difference({1, 1, 1, 0, 0, 0});
    std::vector<char> chosen{0, 0, 0, 1, 1, 1};
    int hits = 0;
    do {
      hits += difference(chosen) >= observed ? 1 : 0;
    } while (std::ranges::next_permutation(chosen).found);
    EXPECT_DOUBLE_EQ(
        process_permutation_test({all[0], all[1], all[2]}, {all[3], all[4], all[5]}, 0.95, 1).value(),
        hits / 20.0);
  }
}

TEST(ProcessPermutation, many_samples_of_one_process_are_one_opinion) {
  // Two processes a side that differ a lot within a side: a thousand samples do not make it sure.
  Random random(3);
  Processes a(2);
  Processes b(2);
  for (Processes* side : {&a, &b}) {
    for (std::size_t process = 0; process < 2; ++process) {
      for (int i = 0; i < 500; ++i)
        (*side)[process].push_back(100 + 10.0 * static_cast<double>(process) + random.uniform());
    }
  }
  EXPECT_GT(process_permutation_test(a, b, 0.95, 1).value(), 0.3);
}

TEST(ProcessPermutation, many_processes_are_sampled_and_never_give_zero) {
  Processes a;
  Processes b;
  for (int i = 0; i < 12; ++i) {
    a.push_back({1.0 + i * 0.001});
    b.push_back({2.0 + i * 0.001});
  }
  // 24 over 12 is 2,704,156.
  EXPECT_DOUBLE_EQ(process_permutation_test(a, b, 0.5, 1, 999).value(), 1.0 / 1000);
}

TEST(ProcessPermutation, needs_samples_that_carry_the_quantile) {
  EXPECT_FALSE(process_permutation_test({}, {{1}}, 0.5, 1));
  EXPECT_FALSE(process_permutation_test({{1}, {}}, {{1}, {2}}, 0.5, 1));
  EXPECT_FALSE(process_permutation_test({{1}, {2}}, {{1}, {2}}, 0.95, 1));
}

TEST(ProcessPermutation, constant_samples_do_not_differ) {
  EXPECT_DOUBLE_EQ(process_permutation_test({{5}, {5}}, {{5}, {5}}, 0.5, 1).value(), 1);
}

TEST(PairedPermutation, agrees_with_sorting_each_relabelling) {
  for (const double shift : {0.0, 0.02, 5.0}) {
    Random random(9);
    std::vector<double> a = uniform(150, 0, random);
    std::vector<double> b = uniform(150, shift, random);
    const double p = paired_permutation_test(a, b, 0.95, 1, 500).value();
    const auto difference = [&] { return std::abs(plain_quantile(a, 0.95) - plain_quantile(b, 0.95)); };
    const double observed = difference();
    Random coins(1);
    int hits = 0;
    for (int run = 0; run < 500; ++run) {
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (coins.below(2) == 1) std::swap(a[i], b[i]);
      }
      hits += difference() >= observed ? 1 : 0;
    }
    EXPECT_DOUBLE_EQ(p, (hits + 1) / 501.0) << shift;
  }
}

TEST(PairedPermutation, swaps_within_pairs_only) {
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 40; ++i) {
    a.push_back(100 + i);
    b.push_back(120 + i);
  }
  EXPECT_LT(paired_permutation_test(a, b, 0.5, 1, 999).value(), 0.05);
  EXPECT_DOUBLE_EQ(paired_permutation_test(a, a, 0.5, 1, 999).value(), 1);
  EXPECT_FALSE(paired_permutation_test(std::vector<double>(19, 1), std::vector<double>(19, 1), 0.95, 1));
  EXPECT_THROW(paired_permutation_test(a, std::vector<double>{1}, 0.5, 1), Error);
}

}  // namespace
}  // namespace tare::measure
