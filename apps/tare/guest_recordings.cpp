#include "guest_recordings.hpp"

#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace tare::cli {
namespace {

namespace fs = std::filesystem;
using guest::ProfileKind;

constexpr const char* to_stderr = "true";  // what a flag without a value is to the library

const char* flag_of(ProfileKind kind) {
  return kind == ProfileKind::cpu ? "--cpu-prof" : "--heap-prof";
}

std::string same_file(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path.string() : real.string();
}

/// Refuses what can't be written, and what is in `taken` already.
fs::path output_file(const std::string& flag, const std::string& path, std::set<std::string>& taken) {
  const auto refuse = [&](const std::string& why) {
    return Error(ErrorCode::usage, fmt::format("{}: cannot write {}", flag, path.empty() ? "''" : path), why);
  };
  if (path.empty()) throw refuse("it has no name");
  if (!taken.insert(same_file(path)).second) throw refuse("another flag or the script has the same file");
  try {
    file::check_writable(path);
  } catch (const Error& error) {
    throw refuse(error.why().empty() ? error.what() : error.why());
  }
  return path;
}

}  // namespace

Recordings::Recordings(const GuestRunFlags& flags) {
  std::set<std::string> taken;
  if (!flags.code && !flags.words.empty() && flags.words.front() != "-")
    taken.insert(same_file(flags.words.front()));
  if (flags.cpu_profile) profiles_[ProfileKind::cpu] = output_file("--cpu-prof", *flags.cpu_profile, taken);
  if (flags.heap_profile)
    profiles_[ProfileKind::heap] = output_file("--heap-prof", *flags.heap_profile, taken);
  trace_ = flags.trace.has_value();
  if (trace_ && *flags.trace != to_stderr) trace_file_ = output_file("--trace", *flags.trace, taken);
}

void Recordings::ask(guest::EngineOptions& options) const {
  options.trace = trace_;
}

void Recordings::ask(guest::SpawnOptions& options) const {
  for (const auto& [kind, path] : profiles_) options.profiles.push_back(kind);
}

void Recordings::write(guest::Engine& engine, guest::Execution& guest, Context& context) const {
  const auto missing = [&](const std::string& flag, const std::string& why) {
    complain(context, Error(ErrorCode::failed, flag + " wrote nothing", why));
  };
  for (const auto& [kind, path] : profiles_) {
    const guest::Profile profile = guest.take_profile(kind);
    if (profile.whole) {
      file::write_atomically(path, profile.json);
    } else {
      missing(flag_of(kind), profile.error.value_or(""));
    }
  }
  if (!trace_) return;
  try {
    const std::string lines = stage_lines(engine.stages());
    if (trace_file_) {
      file::write_atomically(*trace_file_, lines);
    } else {
      context.err.write(lines);
    }
  } catch (const Error& error) {
    missing("--trace", error.line());
  }
}

std::string stage_lines(const guest::StageReport& report) {
  std::string lines;
  for (const auto& [name, stage] : report.stages) {
    const double calls = stage.calls == 0 ? 1 : static_cast<double>(stage.calls);
    lines += fmt::format("stage={} calls={} total_us={} avg_us={} max_us={}\n", name, stage.calls,
                         std::llround(stage.total_us), std::llround(stage.total_us / calls),
                         std::llround(stage.max_us));
  }
  return lines;
}

}  // namespace tare::cli
