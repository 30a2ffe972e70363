#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "lab/measure/histogram.hpp"

namespace tare::load {

/// How one request of a load ended.
enum class Outcome : std::uint8_t {
  ok,
  failed,    ///< answered, but not as it must be; or refused; or its connection broke
  timeout,   ///< not answered within its limit
  censored,  ///< not answered when the load ended
};

/// One request of a load.
struct Sample {
  Instant due;    ///< when the schedule wanted it to start
  Instant sent;   ///< when it started
  Instant ended;  ///< when its answer had been read, or it was given up
  Outcome outcome = Outcome::ok;
  std::string error = {};  ///< empty when it is ok; at most 500 bytes of valid UTF-8

  /// What a user waits who wanted it at that moment.
  Nanoseconds latency() const { return ended - due; }
  /// What the server, and the way to it, took.
  Nanoseconds service() const { return ended - sent; }
};

/// The requests of one kind in one load, as they end. The first ones are kept whole; of all of them there are
/// histograms, so that no number of requests is too large. Failures never enter the distribution of those
/// that are ok.
class Series {
 public:
  explicit Series(std::size_t most_samples = 2048) : most_samples_(most_samples) {}

  /// One start was due. It is followed by `add` or `unsent`.
  void due() { ++due_; }
  void add(Sample sample);
  /// A start that was due was left out: too many requests were open already, or its
  /// connection was lost.
  void unsent() { ++unsent_; }

  const std::vector<Sample>& samples() const { return samples_; }
  const measure::Histogram& latency() const { return latency_; }  ///< of those that are ok
  const measure::Histogram& service() const { return service_; }  ///< of those that are ok

  std::uint64_t due_starts() const { return due_; }
  std::uint64_t unsent_starts() const { return unsent_; }
  /// Started more than a millisecond after they were due.
  std::uint64_t late_starts() const { return late_; }
  std::uint64_t count(Outcome outcome) const { return outcomes_.at(static_cast<std::size_t>(outcome)); }
  std::uint64_t ended() const;
  const measure::Histogram& start_error() const { return start_error_; }  ///< sent − due, of all

 private:
  std::size_t most_samples_;
  std::vector<Sample> samples_;
  measure::Histogram latency_;
  measure::Histogram service_;
  measure::Histogram start_error_;
  std::uint64_t due_ = 0;
  std::uint64_t unsent_ = 0;
  std::uint64_t late_ = 0;
  std::array<std::uint64_t, 4> outcomes_{};
};

}  // namespace tare::load
