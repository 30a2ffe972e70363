#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/driver/workload.hpp"

namespace tare::driver {

/// What a program of the import bench says of itself.
struct ImportMetrics {
  std::optional<double> import_ms;
  std::optional<double> rss_bytes;
  std::optional<double> heap_used_bytes;
  std::optional<double> cpu_user_us;
  std::optional<double> cpu_system_us;
  std::optional<double> cpu_total_us;
};

/// The marker lines of a program's output.
struct ImportMarker {
  std::size_t count = 0;                 ///< lines; the last one counts
  std::optional<ImportMetrics> metrics;  ///< nothing when there is none, or it cannot be read
  std::string text;                      ///< of the last one, behind the prefix
};

/// A marker is a JSON object with `import_ms`, with some of `resource_usage`, or both; or a plain number of
/// milliseconds. Every figure is finite and not negative.
ImportMarker read_marker(std::string_view output);

/// `judge` for the rows of the import bench. A round trip's parameters say with `sampleIndex` which of its
/// request it is.
std::vector<Judgement> judge_import(const Workload& workload, const json::Object& params,
                                    const Sample& sample);

/// The same sample with what follows from its times and its marker, in the units of the sample: the metrics
/// of `import_metrics` as far as there are any. A counter `extraMarkers` counts the markers that did not
/// count.
Sample derive_import(const Workload& workload, const Sample& sample);

/// What a row of the import bench records: the workload with all metrics that can follow from a sample.
Workload import_metrics(const Workload& workload);

}  // namespace tare::driver
