#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/describe.hpp>

#include "base/clock.hpp"
#include "base/fd.hpp"

namespace tare::gateway {

enum class LogLevel : std::uint8_t { debug, info, warn, error };
BOOST_DESCRIBE_ENUM(LogLevel, debug, info, warn, error)

/// One JSON object a line: {"ts":"…","level":"info","msg":"…", …}.
class Log {
 public:
  using Members = std::vector<std::pair<std::string_view, std::string>>;

  Log(const Clock& clock, LogLevel least, std::function<void(std::string_view)> write)
      : clock_(clock), least_(least), write_(std::move(write)) {}

  bool takes(LogLevel level) const { return level >= least_; }
  void write(LogLevel level, std::string_view message, const Members& members = {}) const;

 private:
  const Clock& clock_;
  LogLevel least_;
  std::function<void(std::string_view)> write_;
};

/// Where records go: a descriptor whose reader may have stopped reading. It is not waited for, as clients are
/// served meanwhile: lines that it does not take at once are lost, and counted in the next one.
class LogOutlet {
 public:
  LogOutlet(const Clock& clock, int fd) : clock_(clock), fd_(fd) {}
  void write(std::string_view line);

 private:
  bool give(std::string_view line) const;

  const Clock& clock_;
  int fd_;
  std::uint64_t lost_ = 0;
};

/// A file of spans, one JSON object a line: `openclaw.diagnostics.v1`.
class Timeline {
 public:
  /// No path: nothing is written. Throws Error(input) when it can't be opened.
  Timeline(const Clock& clock, const std::optional<std::filesystem::path>& path, const Log& log);

  /// A span that ends now. What can't be written is logged once, and then no more is.
  void span(std::string_view name, Nanoseconds duration);

 private:
  const Clock& clock_;
  const Log& log_;
  Fd file_;
};

}  // namespace tare::gateway
