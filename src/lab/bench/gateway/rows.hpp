#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "lab/bench/gateway/attempt.hpp"
#include "lab/bench/gateway/options.hpp"
#include "lab/measure/histogram.hpp"
#include "lab/report/document.hpp"

namespace tare::gateway_bench {

/// Writes what runs left into the rows of a document: a row for each kind of thing that was asked or watched,
/// and for each gateway. A run is a `process` of the samples.
class Rows {
 public:
  /// Both must outlive this object. `start` is what `atMs` counts from.
  Rows(report::Document& document, const Options& options, Instant start)
      : document_(document), options_(options), start_(start) {}

  /// Adds a run that counts, whether or not it went well.
  void add(const Attempt& attempt);
  /// Brings summaries and statuses up to date; may be called again and again.
  void finish();

 private:
  using Key = std::pair<std::string, std::string>;  // row, target
  struct Sample {
    std::optional<double> value;
    Instant at;
    report::Outcome outcome = report::Outcome::ok;
    std::optional<std::string> error = {};
  };
  struct Figure {
    std::string_view row;
    std::string_view metric;
    std::string_view unit = "ms";
    report::Better better = report::Better::lower;
  };

  report::Row& row_of(std::string_view row, const std::string& target);
  void put(const Attempt& attempt, const Figure& figure, Sample sample);
  /// The same of something that a run may have very many of.
  void put_one_of_many(const Attempt& attempt, const Figure& figure, Sample sample);
  void put_value(const Attempt& attempt, const Figure& figure, std::optional<double> value);
  void put_series(const Attempt& attempt, const Figure& figure, const load::Series& series);
  void add_turns(const Attempt& attempt);
  void add_load(const Attempt& attempt);
  void add_series(const Attempt& attempt, std::string_view row, const load::Series& series);
  void add_probe(const Attempt& attempt, Probe probe, const Attempt::Probed& probed);
  void add_event_loop(const Attempt& attempt);
  void add_server(const Attempt& attempt);
  void add_checks(report::Row& row, const Checks& checks);
  void summarise(report::Row& row);

  report::Document& document_;
  const Options& options_;
  Instant start_;
  /// All good samples of a metric, as more may be taken than are kept.
  struct Tally {
    measure::Histogram all;
    bool is_kept = true;  ///< every sample is in the arrays, too
    std::uint64_t run = 0;
    std::size_t of_run = 0;  ///< samples of that run
  };
  Tally& tally_of(const Attempt& attempt, const Figure& figure);

  std::map<std::pair<Key, std::string>, Tally> tallies_;
  std::map<Key, std::map<std::string, std::uint64_t>> outcomes_;
  std::map<Key, std::string> failures_;
};

}  // namespace tare::gateway_bench
