#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "lab/driver/protocol.hpp"
#include "lab/driver/workload.hpp"
#include "lab/report/document.hpp"

namespace tare::bench {

/// Where a sample stands in the run.
struct Position {
  std::uint32_t round = 0;
  std::uint32_t process = 0;
  Nanoseconds at{};  ///< since the start of the run
};

/// A metric that is not measured but follows from others, sample by sample: what of one (or of its distance
/// to another) falls on each thing that shared it.
struct Share {
  std::string name;  ///< "per_guest"
  std::string of;    ///< "live_guests"
  double parts = 1;
  std::string minus = {};  ///< "vm"; empty: nothing is taken off
};

/// Of the rows that have one: batches of processes, registries whose size is what is looked at, and memory
/// that guests hold or leave behind.
std::optional<Share> share_of(const driver::Workload& workload);

/// Writes the samples of one lane into one row of the run document, checked and counted. Times are in
/// milliseconds, sizes in bytes.
class Recorder {
 public:
  /// `row` must outlive this object; it may hold samples of an interrupted run already. A broken check that
  /// is excused is counted, and the sample stands.
  Recorder(report::Row& row, const driver::Workload& workload, std::set<std::string> excused = {});

  /// A sample that the driver answered with, and what the judges said of it (nothing unless it was ok).
  void add(const driver::Sample& sample, std::span<const driver::Judgement> judgements, Position position);

  /// A warm-up: judged like a sample, but never one.
  void warm_up(const driver::Sample& sample, std::span<const driver::Judgement> judgements);

  /// Ends the row early: what was measured stays.
  void fail(const std::string& reason);

  /// Brings summary and status up to date.
  void finish();

  /// Samples that ended in a timeout, since the last one that did not.
  std::uint64_t timeouts_in_a_row() const { return timeouts_in_a_row_; }

 private:
  std::optional<double> value_of(const driver::Sample& sample, const std::string& metric) const;
  std::optional<double> share_in(const driver::Sample& sample) const;
  std::string first_broken(std::span<const driver::Judgement> judgements) const;
  void judge(report::Outcome outcome, const std::string& error,
             std::span<const driver::Judgement> judgements);
  void check(const std::string& id, bool ok, const std::string& expected, const std::string& actual);

  report::Row& row_;
  std::vector<std::string> metrics_;
  std::optional<Share> share_;
  std::set<std::string> excused_;
  std::uint64_t timeouts_in_a_row_ = 0;
  bool ended_early_ = false;
};

/// Marks a row as failed by the first of its invariants that is broken, if one is.
void fail_if_broken(report::Row& row);

}  // namespace tare::bench
