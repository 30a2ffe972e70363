#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/describe.hpp>

#include "lab/report/document.hpp"

/// `tare calibrate`: from an A/A run to what a comparison on this machine can see.
namespace tare::verdict {

/// Two lanes of one run that are the same target.
struct Twins {
  std::string target;
  std::string again;
};

/// How often a target is repeated in fresh processes: the fewest, and what is taken unless asked otherwise.
inline constexpr std::uint64_t fewest_calibration_processes = 6;
inline constexpr std::uint64_t calibration_processes = 12;

/// What an A/A run says, for every row that both twins have: each metric's p50 in each pair of processes, and
/// its p95 where every process carries one. A row that failed on either side says nothing.
std::vector<report::Calibration> calibrate(const report::Document& document, const std::vector<Twins>& twins);

/// One line of the table of `tare calibrate`.
struct Detectable {
  std::string target;
  std::string row;
  std::string metric;
  std::string quantile;
  std::uint64_t iterations = 0;
  std::uint64_t processes = 0;        ///< pairs that were run
  std::optional<double> paired;       ///< two lanes of one run, one process each
  std::optional<double> unpaired_4;   ///< two runs of 4 processes
  std::optional<double> unpaired_10;  ///< two runs of 10
};
BOOST_DESCRIBE_STRUCT(Detectable, (),
                      (target, row, metric, quantile, iterations, processes, paired, unpaired_4, unpaired_10))

std::vector<Detectable> detectable(const std::vector<report::Calibration>& entries);

/// Puts into a run's document what is known of its targets and rows on its machine; null when that is
/// nothing.
void attach_calibrations(report::Document& document, const std::vector<report::Calibration>& known);

}  // namespace tare::verdict
