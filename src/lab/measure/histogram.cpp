#include "lab/measure/histogram.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/error.hpp"
#include "lab/measure/quantile.hpp"

namespace tare::measure {
namespace {

constexpr unsigned half_bits = 10;  // 1,024 buckets for each doubling: three significant digits
constexpr std::size_t half = std::size_t{1} << half_bits;

/// How many low bits of `ns` a bucket does not tell apart.
unsigned shift_of(std::uint64_t ns) {
  const auto width = static_cast<unsigned>(std::bit_width(ns));
  return width > half_bits + 1 ? width - (half_bits + 1) : 0;
}

std::size_t bucket_of(std::uint64_t ns) {
  const unsigned shift = shift_of(ns);
  return shift * half + static_cast<std::size_t>(ns >> shift);
}

struct Range {
  std::uint64_t lowest;
  std::uint64_t highest;
};

Range range_of(std::size_t bucket) {
  const std::size_t shift = bucket < 2 * half ? 0 : bucket / half - 1;
  const std::uint64_t lowest = std::uint64_t{bucket - shift * half} << shift;
  return {lowest, lowest + (std::uint64_t{1} << shift) - 1};
}

Nanoseconds nanoseconds(std::uint64_t ns) {
  return Nanoseconds(static_cast<std::int64_t>(ns));
}

}  // namespace

void Histogram::record(Nanoseconds duration, std::uint64_t times) {
  if (times == 0) return;
  const std::int64_t given = duration.count();
  below_range_ += given < static_cast<std::int64_t>(lowest_ns) ? times : 0;
  above_range_ += given > static_cast<std::int64_t>(highest_ns) ? times : 0;
  const std::uint64_t ns =
      std::clamp(given < 0 ? 0 : static_cast<std::uint64_t>(given), lowest_ns, highest_ns);
  const std::size_t bucket = bucket_of(ns);
  if (bucket >= counts_.size()) counts_.resize(bucket + 1);
  counts_[bucket] += times;
  min_ns_ = count_ == 0 ? ns : std::min(min_ns_, ns);
  max_ns_ = count_ == 0 ? ns : std::max(max_ns_, ns);
  count_ += times;
}

void Histogram::merge(const Histogram& other) {
  if (other.count_ == 0) return;
  if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  min_ns_ = count_ == 0 ? other.min_ns_ : std::min(min_ns_, other.min_ns_);
  max_ns_ = count_ == 0 ? other.max_ns_ : std::max(max_ns_, other.max_ns_);
  count_ += other.count_;
  below_range_ += other.below_range_;
  above_range_ += other.above_range_;
}

std::optional<Nanoseconds> Histogram::min() const {
  if (count_ == 0) return std::nullopt;
  return nanoseconds(min_ns_);
}

std::optional<Nanoseconds> Histogram::max() const {
  if (count_ == 0) return std::nullopt;
  return nanoseconds(max_ns_);
}

std::optional<Nanoseconds> Histogram::mean() const {
  if (count_ == 0) return std::nullopt;
  double sum = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const Range range = range_of(i);
    sum += static_cast<double>(counts_[i]) *
           (static_cast<double>(range.lowest) + static_cast<double>(range.highest)) / 2;
  }
  const auto mean = static_cast<std::uint64_t>(sum / static_cast<double>(count_) + 0.5);
  return nanoseconds(std::clamp(mean, min_ns_, max_ns_));
}

std::optional<Nanoseconds> Histogram::quantile(double q) const {
  if (count_ == 0) return std::nullopt;
  return at_rank(quantile_index(count_, q));
}

std::optional<Nanoseconds> Histogram::at_rank(std::uint64_t rank) const {
  if (rank >= count_) return std::nullopt;
  std::uint64_t left = rank + 1;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] >= left) return nanoseconds(std::min(range_of(i).highest, max_ns_));
    left -= counts_[i];
  }
  return max();
}

HistogramData Histogram::data() const {
  HistogramData data;
  data.count = count_;
  data.below_range = below_range_;
  data.above_range = above_range_;
  if (count_ > 0) {
    data.min_ns = min_ns_;
    data.max_ns = max_ns_;
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > 0) data.counts.push_back({range_of(i).highest, counts_[i]});
  }
  return data;
}

Histogram Histogram::from(const HistogramData& data) {
  const auto fail = [](std::string why) {
    return Error(ErrorCode::input, "not a histogram", std::move(why));
  };
  Histogram histogram;
  std::uint64_t previous = 0;
  for (const auto& [highest, times] : data.counts) {
    if (highest <= previous) throw fail(fmt::format("bucket {} is not above the one before it", highest));
    if (times == 0) throw fail(fmt::format("bucket {} is empty", highest));
    if (highest < lowest_ns || highest > range_of(bucket_of(highest_ns)).highest ||
        range_of(bucket_of(highest)).highest != highest) {
      throw fail(fmt::format("there is no bucket {}", highest));
    }
    if (times > data.count - histogram.count_) throw fail("the buckets hold more than count");
    previous = highest;
    const std::size_t bucket = bucket_of(highest);
    histogram.counts_.resize(bucket + 1);
    histogram.counts_[bucket] = times;
    histogram.count_ += times;
  }
  if (histogram.count_ != data.count) throw fail("the buckets hold less than count");
  if (data.below_range > data.count || data.above_range > data.count - data.below_range) {
    throw fail("more samples out of range than samples");
  }
  if (data.count == 0) return histogram;
  if (!data.min_ns || !data.max_ns) throw fail("minNs or maxNs is missing");
  if (range_of(bucket_of(*data.min_ns)).highest != data.counts.front()[0] ||
      range_of(bucket_of(*data.max_ns)).highest != data.counts.back()[0] || *data.min_ns > *data.max_ns ||
      *data.min_ns < lowest_ns || *data.max_ns > highest_ns) {
    throw fail("minNs and maxNs are not in the first and the last bucket");
  }
  histogram.min_ns_ = *data.min_ns;
  histogram.max_ns_ = *data.max_ns;
  histogram.below_range_ = data.below_range;
  histogram.above_range_ = data.above_range;
  return histogram;
}

}  // namespace tare::measure
