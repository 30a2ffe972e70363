#include "lab/measure/paired.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/measure/binomial.hpp"

namespace tare::measure {

Comparison compare_paired(std::span<const double> subject, std::span<const double> reference) {
  if (subject.size() != reference.size()) {
    throw Error(ErrorCode::failed, "paired samples are not paired",
                fmt::format("{} and {} rounds", subject.size(), reference.size()));
  }
  Comparison result;
  result.method = "median of paired log-ratios, sign-test interval";
  result.pairs = subject.size();
  if (subject.empty()) {
    result.notes.emplace_back("no pairs");
    return result;
  }
  std::vector<double> differences;
  std::vector<double> logs;
  differences.reserve(subject.size());
  logs.reserve(subject.size());
  for (std::size_t i = 0; i < subject.size(); ++i) {
    differences.push_back(subject[i] - reference[i]);
    if (subject[i] > 0 && reference[i] > 0) logs.push_back(std::log(subject[i] / reference[i]));
  }
  std::ranges::sort(differences);
  std::ranges::sort(logs);
  result.excluded = subject.size() - logs.size();
  result.difference = midpoint_of_sorted(differences);
  result.difference_interval = quantile_interval(differences, 0.5);
  if (result.excluded > 0) {
    result.notes.push_back(
        fmt::format("{} of {} pairs have a sample below clock resolution (≤ 0) and no ratio",
                    text::count(result.excluded), text::count(result.pairs)));
  }
  if (logs.empty()) return result;
  result.ratio = std::exp(midpoint_of_sorted(logs));
  if (const auto ranks = quantile_ranks(logs.size(), 0.5)) {
    result.ratio_interval = Interval{std::exp(logs[ranks->low]), std::exp(logs[ranks->high])};
    result.coverage = ranks->coverage;
  } else {
    result.notes.push_back(fmt::format("interval n/a (n<{})", smallest_n_for_interval(0.5)));
  }
  return result;
}

double sign_test(std::span<const double> differences) {
  const auto above =
      static_cast<std::uint64_t>(std::ranges::count_if(differences, [](double d) { return d > 0; }));
  const auto below =
      static_cast<std::uint64_t>(std::ranges::count_if(differences, [](double d) { return d < 0; }));
  if (above == below) return 1;
  return std::min(1.0, 2 * binomial::upper_tail(std::max(above, below), above + below, 0.5));
}

}  // namespace tare::measure
