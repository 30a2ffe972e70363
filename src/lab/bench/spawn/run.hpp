#pragma once

#include <string_view>

#include "lab/bench/common/life.hpp"
#include "lab/bench/spawn/options.hpp"
#include "lab/report/document.hpp"

/// The bench `spawn`: what it costs to start, feed, wait for and reap a process, on every target side by
/// side. Rows run one after the other; in each round of a row every lane takes one sample, in an order that
/// is balanced over rounds. Each row has fresh drivers.
namespace tare::spawn {

struct Request : bench::Order {
  Options options;
};

/// Measures. What goes wrong with a driver during a row ends that lane's row and is in the document. Throws
/// Error when nothing can be measured: a target that is not there or whose driver does not start, a CPU that
/// this process may not use, a document that was measured by something else.
bench::Result run(const Request& request, bench::Surroundings surroundings);

/// The options of an interrupted run, checked against this program, this host's hardware and the flags.
/// Throws Error(input) that names the first difference; `source` names the document.
Options resumed_options(const report::Document& before, const RawOptions& raw, std::string_view source);

}  // namespace tare::spawn
