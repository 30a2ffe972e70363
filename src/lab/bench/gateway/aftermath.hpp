#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "lab/report/gateway_record.hpp"

/// What a run's servers wrote while it ran.
namespace tare::gateway_bench {

/// What the mock model server was asked for replies.
struct ModelRequests {
  std::uint64_t all = 0;
  std::uint64_t load = 0;  ///< of those, with a marker of the load
  /// By marker: from a request's arrival until its last chunk was sent, over all requests with it.
  std::map<std::string, Nanoseconds, std::less<>> times = {};
};
/// Throws Error(failed) for a log that is damaged.
ModelRequests read_request_log(const std::filesystem::path& path);

/// A span of wall time, in milliseconds since 1970; both ends belong to it.
struct WallWindow {
  double from_ms = 0;
  double through_ms = 0;
};

/// The spans `plugins.metadata.scan` of a diagnostics timeline within the window. Throws Error(failed) for
/// one that is empty, incomplete or no timeline.
report::MetadataScans read_timeline(const std::filesystem::path& path, const WallWindow& window);

}  // namespace tare::gateway_bench
