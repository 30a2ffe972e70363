#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmark.hpp"
#include "lab/report/document.hpp"

/// What the benchmarks share that run `tare gateway` as a person does.
namespace tare::benchmarks {

/// A `tare gateway` that ended with exit code 0: complete, of one gateway, and no check was broken.
struct GatewayBenchRun {
  report::Document document;
  /// CPU of the lab's own process in the load window of each run, in percent of a core. Its children, the
  /// gateway and the model server, are not in it.
  std::vector<double> lab_core_percent;
  double lab_peak_mb = 0;

  /// Throws Broken where there is none.
  const report::Metric& metric(std::string_view row, std::string_view name) const;
};

/// Runs `tare gateway` with these arguments as a process of its own. Throws Error(unavailable) when it does
/// not begin, with its reason; Broken when it fails or has something broken.
GatewayBenchRun run_gateway_bench(const std::vector<std::string>& arguments);

/// A figure with a limit of its own.
struct LimitedFigure {
  std::string name;
  double figure = 0;
  std::string unit;
  Limit limit;         ///< one of its two ends
  std::string note{};  ///< how it came about
};

/// The largest share of its limit that one of these figures takes, in percent; the note has all.
Measurement largest_share(const std::vector<LimitedFigure>& figures);

}  // namespace tare::benchmarks
