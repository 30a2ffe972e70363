#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/interrupt.hpp"
#include "lab/bench/spawn/options.hpp"
#include "lab/report/document.hpp"
#include "lab/report/progress.hpp"

/// The bench `spawn`: what it costs to start, feed, wait for and reap a process, on every target side by
/// side. Rows run one after the other; in each round of a row every lane takes one sample, in an order that
/// is balanced over rounds. Each row has fresh drivers.
namespace tare::spawn {

struct Request {
  Options options;
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
  report::Document document;  ///< complete, or all whole rounds until the signal
  std::optional<int> signal;  ///< that ended the run early
  std::string position;       ///< where, for a person: "after round 57 of 200 of nested_8"
};

/// Measures. What goes wrong with a driver during a row ends that lane's row and is in the document. Throws
/// Error when nothing can be measured: a target that is not there or whose driver does not start, a CPU that
/// this process may not use, a document that was measured by something else.
Result run(const Request& request, Surroundings surroundings);

/// The options of an interrupted run, checked against this program, this host's hardware and the flags.
/// Throws Error(input) that names the first difference; `source` names the document.
Options resumed_options(const report::Document& before, const RawOptions& raw, std::string_view source);

}  // namespace tare::spawn
