#include "lab/bench/gateway/aftermath.hpp"

#include <cstdio>
#include <ctime>
#include <sstream>

#include <boost/describe.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace tare::gateway_bench {
namespace {

constexpr std::string_view load_prefix = "load-";

/// What a line of the mock's log says that matters here.
struct LoggedRequest {
  std::string path;
  std::optional<std::string> marker;
  std::int64_t arrived_ns = 0;
  std::optional<std::int64_t> last_chunk_ns;
};
BOOST_DESCRIBE_STRUCT(LoggedRequest, (), (path, marker, arrived_ns, last_chunk_ns))

struct TimelineEvent {
  std::string schema_version;
  std::string type;
  std::string timestamp;
  std::optional<std::string> name;
  std::optional<double> duration_ms;
};
BOOST_DESCRIBE_STRUCT(TimelineEvent, (), (schema_version, type, timestamp, name, duration_ms))

[[noreturn]] void damaged(const std::filesystem::path& path, std::string why) {
  throw Error(ErrorCode::failed, path.filename().string() + " is damaged", std::move(why));
}

template <class T, class F>
void each_line(const std::filesystem::path& path, F take) {
  std::istringstream lines(file::read(path));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    number += 1;
    const std::string source = fmt::format("{} line {}", path.filename().string(), number);
    try {
      take(json::read<T>(json::parse(line, source), source));
    } catch (const Error& error) {
      damaged(path, fmt::format("line {}: {}", number, error.why().empty() ? error.what() : error.why()));
    }
  }
}

/// Milliseconds since 1970 of "2026-11-30T22:10:05.123Z".
std::optional<double> wall_ms(const std::string& text) {
  std::tm tm{};
  double seconds = 0;
  char zone = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%lf%c", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
                  &tm.tm_hour, &tm.tm_min, &seconds, &zone) != 7 ||
      zone != 'Z')
    return std::nullopt;
  tm.tm_year -= 1900;
  tm.tm_mon -= 1;
  return static_cast<double>(::timegm(&tm)) * 1e3 + seconds * 1e3;
}

}  // namespace

ModelRequests read_request_log(const std::filesystem::path& path) {
  ModelRequests requests;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return requests;
  each_line<LoggedRequest>(path, [&](const LoggedRequest& request) {
    if (!request.path.ends_with("/responses") && !request.path.ends_with("/completions")) return;
    requests.all += 1;
    if (!request.marker) return;
    if (request.marker->starts_with(load_prefix)) requests.load += 1;
    if (request.last_chunk_ns)
      requests.times[*request.marker] += Nanoseconds(*request.last_chunk_ns - request.arrived_ns);
  });
  return requests;
}

report::MetadataScans read_timeline(const std::filesystem::path& path, const WallWindow& window) {
  const std::string text = file::read(path);
  if (text::trim(text).empty()) damaged(path, "it is empty");
  if (!text.ends_with('\n')) damaged(path, "its last line is not whole");
  report::MetadataScans scans;
  each_line<TimelineEvent>(path, [&](const TimelineEvent& event) {
    const auto at = wall_ms(event.timestamp);
    if (event.schema_version != "openclaw.diagnostics.v1" || !at)
      throw Error(ErrorCode::input, "no record of a diagnostics timeline");
    if (*at < window.from_ms || *at > window.through_ms || event.type != "span.end") return;
    if (!event.name || !event.duration_ms) throw Error(ErrorCode::input, "a span without name or duration");
    if (*event.name != "plugins.metadata.scan") return;
    scans.count += 1;
    scans.total_duration_ms += *event.duration_ms;
  });
  return scans;
}

}  // namespace tare::gateway_bench
