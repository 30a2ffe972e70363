#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/measure/detectable.hpp"
#include "lab/report/document.hpp"

/// What `tare calibrate` found out about this machine: how far two equal lanes lie apart.
namespace tare::verdict {

/// Every calibration that is known for a run: those in the cache that were made on the document's machine,
/// then those the document itself carries. `cache` is the file; a missing one holds nothing.
/// Throws Error(input) when it is damaged.
std::vector<report::Calibration> calibrations_for(const report::Document& document,
                                                  const std::filesystem::path& cache);

/// `$XDG_CACHE_HOME/tare/calibration.json`.
std::filesystem::path calibration_file();

/// Throws now what `save_calibrations` would throw after a long run, as far as that can be known.
void check_cache(const std::filesystem::path& cache);

/// Puts new entries in, in place of older ones of the same target, row, metric and quantile. Atomic.
void save_calibrations(const report::Document& document, std::vector<report::Calibration> entries,
                       const std::filesystem::path& cache);

/// What must be known of a comparison to say how small an effect it could see.
struct Design {
  std::string target;
  std::string row;
  std::string metric;
  std::string quantile;  ///< "p50"
  measure::Pairing pairing = measure::Pairing::unpaired;
  std::uint64_t processes = 1;  ///< of the smaller side
  std::uint64_t samples = 1;    ///< of each process
};

/// The minimum detectable effect: |ratio − 1| that 95 of 100 comparisons of a target with itself stay below.
/// Nothing when the target's row was never calibrated.
std::optional<double> minimum_detectable(const std::vector<report::Calibration>& known, const Design& design);

}  // namespace tare::verdict
