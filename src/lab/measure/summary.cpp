#include "lab/measure/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/measure/moments.hpp"
#include "lab/measure/series.hpp"

namespace tare::measure {
namespace {

/// Puts the samples of the given ascending ranks where sorting would put them, and no others: a tenth of
/// the work of a sort when ranks are few and samples are many.
void select_ranks(std::span<double> samples, std::span<const std::size_t> ranks, std::size_t offset) {
  if (ranks.empty() || samples.size() < 2) return;
  if (samples.size() <= 256) {
    std::ranges::sort(samples);
    return;
  }
  const std::size_t half = ranks.size() / 2;
  const std::size_t rank = ranks[half] - offset;
  std::ranges::nth_element(samples, samples.begin() + static_cast<std::ptrdiff_t>(rank));
  select_ranks(samples.first(rank), ranks.first(half), offset);
  select_ranks(samples.subspan(rank + 1), ranks.subspan(half + 1), offset + rank + 1);
}

struct Level {
  const char* name;
  double q;
  std::optional<double> Summary::* point;
  std::optional<Interval> Summary::* interval;
};

constexpr std::array levels{
    Level{"p50", 0.50, &Summary::p50, &Summary::p50_interval},
    Level{"p90", 0.90, &Summary::p90, &Summary::p90_interval},
    Level{"p95", 0.95, &Summary::p95, &Summary::p95_interval},
    Level{"p99", 0.99, &Summary::p99, &Summary::p99_interval},
};

/// All ranks that the summary reads, ascending and each once.
std::vector<std::size_t> ranks_read(std::size_t n) {
  std::vector<std::size_t> ranks{quantile_index(n, 0.25), quantile_index(n, 0.75)};
  for (const Level& level : levels) {
    ranks.push_back(quantile_index(n, level.q));
    if (const auto interval = quantile_ranks(n, level.q)) {
      ranks.push_back(interval->low);
      ranks.push_back(interval->high);
    }
  }
  std::ranges::sort(ranks);
  const auto repeated = std::ranges::unique(ranks);
  ranks.erase(repeated.begin(), repeated.end());
  return ranks;
}

/// `at` gives the sample of a 0-based rank among all `summary.count`, ascending.
template <class At>
void add_quantiles(Summary& summary, At at) {
  const std::size_t n = summary.count;
  for (const Level& level : levels) {
    if (n < smallest_n(level.q)) {
      summary.notes.push_back(fmt::format("{} {}", level.name, not_carried(level.q)));
      continue;
    }
    summary.*level.point = at(quantile_index(n, level.q));
    if (const auto ranks = quantile_ranks(n, level.q)) {
      summary.*level.interval = Interval{at(ranks->low), at(ranks->high)};
    } else {
      summary.notes.push_back(
          fmt::format("{} interval n/a (n<{})", level.name, smallest_n_for_interval(level.q)));
    }
  }
}

void add_order_statistics(Summary& summary, std::span<double> samples) {
  select_ranks(samples, ranks_read(samples.size()), 0);
  add_quantiles(summary, [&](std::size_t rank) { return samples[rank]; });
  if (samples.size() >= smallest_n_for_outliers) {
    summary.outliers =
        count_outliers(samples, quantile_of_sorted(samples, 0.25), quantile_of_sorted(samples, 0.75));
  }
}

void note_below_resolution(Summary& summary) {
  if (summary.below_resolution == 0) return;
  summary.notes.push_back(fmt::format("{} of {} samples below clock resolution (≤ 0)",
                                      text::count(summary.below_resolution), text::count(summary.count)));
}

/// The buckets of a histogram, each at its end, in a unit of so many nanoseconds.
std::vector<Repeated> buckets_of(const Histogram& histogram, double unit_ns) {
  std::vector<Repeated> buckets;
  const HistogramData data = histogram.data();
  for (const auto& [highest, times] : data.counts)
    buckets.push_back({static_cast<double>(std::min(highest, *data.max_ns)) / unit_ns, times});
  return buckets;
}

double stddev_of(std::span<const Repeated> buckets, double n) {
  double sum = 0;
  for (const auto& [value, times] : buckets) sum += value * static_cast<double>(times);
  const double mean = sum / n;
  double squares = 0;
  for (const auto& [value, times] : buckets)
    squares += (value - mean) * (value - mean) * static_cast<double>(times);
  return std::sqrt(squares / n);
}

}  // namespace

Summary summarise(std::vector<double> samples) {
  Summary summary;
  summary.count = samples.size();
  if (samples.empty()) {
    summary.notes.emplace_back("no samples");
    return summary;
  }
  Moments moments;
  for (const double sample : samples) {
    if (!std::isfinite(sample)) {
      throw Error(ErrorCode::failed, "a sample is not a finite number",
                  fmt::format("{} of {} samples before it", moments.count(), samples.size()));
    }
    moments.add(sample);
    summary.below_resolution += sample <= 0;
  }
  summary.min = moments.min();
  summary.mean = moments.mean();
  summary.stddev = moments.stddev();
  summary.max = moments.max();
  summary.lag1 = lag1(samples);
  if (summary.lag1) {
    summary.effective_n = effective_n(static_cast<double>(samples.size()), *summary.lag1);
    if (*summary.lag1 > dependence_warning) {
      summary.notes.push_back(fmt::format("lag-1 {:.2f}: samples depend on each other", *summary.lag1));
    }
  }
  add_order_statistics(summary, samples);
  note_below_resolution(summary);
  return summary;
}

Summary summarise(std::span<const double> samples) {
  return summarise(std::vector<double>(samples.begin(), samples.end()));
}

Summary summarise(const Histogram& histogram, double unit_ns, std::uint64_t kept) {
  Summary summary;
  summary.count = histogram.count();
  if (summary.count == 0) {
    summary.notes.emplace_back("no samples");
    return summary;
  }
  const auto in_unit = [&](std::optional<Nanoseconds> ns) {
    return static_cast<double>(ns.value().count()) / unit_ns;
  };
  const auto at = [&](std::uint64_t rank) { return in_unit(histogram.at_rank(rank)); };
  const std::vector<Repeated> buckets = buckets_of(histogram, unit_ns);
  summary.min = in_unit(histogram.min());
  summary.mean = in_unit(histogram.mean());
  summary.stddev = stddev_of(buckets, static_cast<double>(summary.count));
  summary.max = in_unit(histogram.max());
  summary.below_resolution = histogram.below_range();
  summary.notes.push_back(
      fmt::format("quantiles from a histogram (3 digits) of {} samples, of which {} are kept",
                  text::count(summary.count), text::count(kept)));
  summary.notes.emplace_back("lag-1 n/a (a histogram keeps no order)");
  add_quantiles(summary, at);
  if (summary.count >= smallest_n_for_outliers) {
    summary.outliers = count_outliers(buckets, at(quantile_index(summary.count, 0.25)),
                                      at(quantile_index(summary.count, 0.75)));
  }
  note_below_resolution(summary);
  return summary;
}

}  // namespace tare::measure
