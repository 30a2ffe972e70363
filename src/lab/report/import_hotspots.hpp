#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/report/import_lines.hpp"

/// Where the time and the memory of the import bench go.
namespace tare::report {

struct Hotspot {
  std::uint64_t rank = 0;  ///< from 1
  std::string scenario;
  std::string workload;
  std::string target;
  std::string mode;
  double value = 0;
};

struct HotspotRanking {
  std::string metric;     ///< "wall_mean_ms"
  std::string label;      ///< "Wall Time"
  std::string dimension;  ///< "time", "stability", "share", "memory" or "cpu"
  std::string unit;       ///< "ms", "pct" or "MiB"
  std::vector<Hotspot> ranked;
  std::vector<std::string> without;  ///< scenarios that do not have the metric
};

/// The 13 rankings over the lines of one lane, the largest first; equal ones by name.
std::vector<HotspotRanking> hotspot_rankings(const std::vector<ImportLine>& lines);

/// "12.34", "56.7%"
std::string hotspot_value(const std::string& unit, double value);

/// Workloads with what was measured of them.
struct ControlRow {
  std::string workload;
  std::vector<std::string> targets;
  std::vector<std::string> modes;
  std::vector<std::string> scenarios;
};

/// In order of appearance, each name once.
std::vector<ControlRow> control_matrix(const std::vector<ImportLine>& lines);

}  // namespace tare::report
