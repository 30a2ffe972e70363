#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "lab/bench/common/lane.hpp"
#include "lab/driver/workload.hpp"
#include "lab/measure/noise.hpp"
#include "lab/report/document.hpp"
#include "lab/report/progress.hpp"

namespace tare::bench {

/// Thrown out of a measurement when the run was told to stop.
struct Interrupted {};

/// What every bench is asked for, beside its options.
struct Order {
  std::vector<std::string> command;        ///< as typed, for the document
  std::optional<report::Document> before;  ///< the interrupted run to go on with
  /// Keeps the document as it is now; called between samples, every few seconds. What it throws is kept
  /// as a finding, and the run goes on.
  std::function<void(const report::Document&)> save;
};

struct Surroundings {
  const Clock& clock;
  const Interrupt& interrupt;
  report::Progress& progress;
};

struct Result {
  report::Document document;           ///< complete, or what was measured until the run ended early
  std::optional<int> signal;           ///< that ended it early
  std::optional<std::string> failure;  ///< what else ended it early, in one line
  std::string position;                ///< where, for a person: "after round 57 of 200 of nested_8"
};

/// The life of a run document, the same for every bench: it begins with the facts of program, machine and
/// targets, is kept every ten seconds, and is sealed with what was seen of the machine before and after.
/// `order` must outlive this object. One thread.
class Life {
 public:
  Life(const Order& order, const Surroundings& around);

  /// Writes the head of the document; of a run that goes on, its head stays.
  void begin(std::uint64_t seed, json::Value config);

  /// Finds the lanes and writes them down; of a run that goes on, they must be the same programs.
  /// Throws what prepare_lanes throws, and Interrupted.
  void prepare(const LaneRequest& request);

  /// Everything was measured.
  void complete();

  /// The run was told to stop: says where.
  void interrupted();

  /// Adds what is known only at the end: the machine's noise, what broke, and the findings of all benches.
  void seal();

  report::Document& document() { return document_; }
  const std::vector<Lane>& lanes() const { return lanes_; }
  const driver::DriverOptions& driver_options() const { return driver_options_; }
  /// Where drivers may keep files.
  const std::filesystem::path& scratch() const { return scratch_.path(); }
  const Clock& clock() const { return around_.clock; }
  report::Progress& progress() { return around_.progress; }

  /// Since the start of the run: what `atMs` counts.
  Nanoseconds now() const { return around_.clock.now() - start_; }

  /// The row of a workload on a lane, made at the end of the document if there is none yet.
  report::Row& row_of(const driver::Workload& workload, const Lane& lane);

  /// The lanes that offer a workload, with their rows. Of the others, the row says why it is unavailable;
  /// where `lacking` is silent, only those that a known defect keeps from it have one.
  struct Entry {
    const Lane* lane;
    report::Row* row;  ///< in the document; valid until it gets another one
  };
  enum class Lacking { is_said, is_silent };
  std::vector<Entry> entries_of(const driver::Workload& workload, Lacking lacking = Lacking::is_said);

  /// Whether some lane offers a row.
  bool is_offered(std::string_view row) const;

  /// Where the run is, for a person.
  void reach(std::string position) { position_ = std::move(position); }
  /// Throws Interrupted when the run was told to stop.
  void stop_if_told() const;

  /// Whether ten seconds have passed since the document was last kept.
  bool is_due() const;
  void save();

  Result result(std::optional<std::string> failure = {});

 private:
  const Order& order_;
  Surroundings around_;
  report::Document document_;
  measure::NoiseFacts noise_before_;
  file::TemporaryFolder scratch_{"tare-run"};
  std::vector<Lane> lanes_;
  driver::DriverOptions driver_options_;
  Instant start_;
  Instant saved_;
  bool save_failed_ = false;
  std::string position_ = "before the first sample";
};

}  // namespace tare::bench
