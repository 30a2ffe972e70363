#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

#include "lab/report/document.hpp"
#include "lab/report/metric.hpp"

/// The rows of the import bench as reports see them: what each scenario is, and what each lane gave.
namespace tare::report {

/// What a run's options say of a scenario, in the words of the seed.
struct ImportScenario {
  std::string id;
  std::string workload;
  std::string runtime;
  std::string mode;
  std::string description;
  std::string fixture;
  std::string compile_cache;
  std::string engine_reuse;
};
BOOST_DESCRIBE_STRUCT(ImportScenario, (),
                      (id, workload, runtime, mode, description, fixture, compile_cache, engine_reuse))

/// One scenario on one lane. The document must outlive it.
struct ImportLine {
  ImportScenario scenario;
  std::string target;
  const Row* row = nullptr;

  /// Nothing when the lane has no good sample of it.
  const Metric* metric(std::string_view name) const;
  std::optional<double> mean(std::string_view name) const;
};

/// What was measured: in the order of the scenarios, and of the targets in each.
std::vector<ImportLine> import_lines(const Document& document);

/// Those of one lane.
std::vector<ImportLine> lines_of(const std::vector<ImportLine>& lines, std::string_view target);

const ImportLine* find_line(const std::vector<ImportLine>& lines, std::string_view scenario);

/// The lanes of these lines, in the order of the document.
std::vector<std::string> import_targets(const Document& document);

/// Round trips of one size on one lane.
struct TransportLine {
  std::uint64_t bytes = 0;
  std::string target;
  const Metric* total = nullptr;
};
std::vector<TransportLine> transport_lines(const Document& document);

/// The name of what carries round trips.
inline constexpr const char* transport_channel_name = "execution-stdio-echo";

/// Startup overhead of the wall time: mean by mean, in percent.
std::optional<double> startup_share(const ImportLine& line);

}  // namespace tare::report
