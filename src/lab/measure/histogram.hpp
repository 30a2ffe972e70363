#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include <boost/describe.hpp>

#include "base/clock.hpp"

namespace tare::measure {

/// A histogram as part of a document. `counts` holds [highest nanosecond of the bucket, samples in it],
/// ascending, without empty buckets.
struct HistogramData {
  std::uint64_t count = 0;
  std::uint64_t below_range = 0;
  std::uint64_t above_range = 0;
  std::optional<std::uint64_t> min_ns;
  std::optional<std::uint64_t> max_ns;
  std::vector<std::array<std::uint64_t, 2>> counts;
  bool operator==(const HistogramData&) const = default;
};
BOOST_DESCRIBE_STRUCT(HistogramData, (), (count, below_range, above_range, min_ns, max_ns, counts))

/// Durations from 1 ns to 1 h with three significant digits in constant space (at most 270 KB), for runs of
/// more samples than one wants to keep. Log-linear as G. Tene's HdrHistogram: exact below 2,048 ns, then
/// 1,024 equal buckets for each doubling, so a bucket is at most 0.1 % wide.
///
/// A duration out of range is recorded at the end of the range, so that no slow sample is lost from a
/// percentile, and counted apart. Not for several threads at once: one each, then merge.
class Histogram {
 public:
  static constexpr std::uint64_t lowest_ns = 1;
  static constexpr std::uint64_t highest_ns = 3'600'000'000'000;

  void record(Nanoseconds duration, std::uint64_t times = 1);

  /// Exactly as if everything recorded there had been recorded here.
  void merge(const Histogram& other);

  /// All that was recorded, the two kinds below included.
  std::uint64_t count() const { return count_; }
  std::uint64_t below_range() const { return below_range_; }  ///< shorter than 1 ns: below clock resolution
  std::uint64_t above_range() const { return above_range_; }  ///< longer than 1 h

  /// Exact, but for durations out of range. Nothing when empty, as with all figures below.
  std::optional<Nanoseconds> min() const;
  std::optional<Nanoseconds> max() const;
  /// Within the width of a bucket.
  std::optional<Nanoseconds> mean() const;
  /// Nearest rank; the highest duration of its bucket, but never above `max()`.
  std::optional<Nanoseconds> quantile(double q) const;
  /// What stands at this 0-based place among all that was recorded, ascending; exact as a quantile is.
  /// Nothing from `count()` on.
  std::optional<Nanoseconds> at_rank(std::uint64_t rank) const;

  HistogramData data() const;
  /// Throws Error(input) when the data contradict themselves.
  static Histogram from(const HistogramData& data);

  bool operator==(const Histogram& other) const { return data() == other.data(); }

 private:
  std::vector<std::uint64_t> counts_;  ///< grown to the highest bucket in use
  std::uint64_t count_ = 0;
  std::uint64_t below_range_ = 0;
  std::uint64_t above_range_ = 0;
  std::uint64_t min_ns_ = 0;
  std::uint64_t max_ns_ = 0;
};

}  // namespace tare::measure
