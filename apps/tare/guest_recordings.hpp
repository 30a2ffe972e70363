#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "cli.hpp"
#include "guest_run.hpp"
#include "runtime/guest/engine.hpp"

namespace tare::cli {

/// What `tare guest run` writes beside the guest's output: profiles, and the stages of the engine.
class Recordings {
 public:
  /// Throws Error(usage) for files that cannot be written, or that would overwrite each other or the script.
  explicit Recordings(const GuestRunFlags& flags);

  void ask(guest::EngineOptions& options) const;
  void ask(guest::SpawnOptions& options) const;

  /// Once the guest has ended. What is not there is one line on stderr. Throws Error(failed) for a file that
  /// could not be written after all.
  void write(guest::Engine& engine, guest::Execution& guest, Context& context) const;

 private:
  std::map<guest::ProfileKind, std::filesystem::path> profiles_;
  bool trace_ = false;
  std::optional<std::filesystem::path> trace_file_;
};

/// "stage=execute_total calls=3 total_us=420 avg_us=140 max_us=200", one line each.
std::string stage_lines(const guest::StageReport& report);

}  // namespace tare::cli
