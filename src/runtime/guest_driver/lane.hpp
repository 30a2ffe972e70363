#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/guest/engine.hpp"
#include "runtime/guest_driver/sample.hpp"

namespace tare::guest_driver {

/// One timed operation: `count` guests that run `node -e script`.
struct Operation {
  std::string script;
  std::uint32_t count = 1;
  std::optional<std::string> cwd;
  std::optional<std::string> input;           ///< written to stdin, which is closed then
  guest::Stdio stdio = guest::Stdio::ignore;  ///< pipe: its output is read
};

/// Runs it in a virtual machine. `ns` has total and the two phases `spawn` and `wait`, which the row renames
/// or drops; `counters` are exits and nonZero, and of a single guest exitCode or signal, and syncSkipped or
/// syncFiles. Guests that are late are killed. Throws Error when there is no engine to do it.
Sample run_in(guest::Vm& vm, const Operation& operation, Instant deadline);

/// A guest that did not end by its own will, or by a signal of the script's, is no result: fails the sample.
void judge(const guest::Exit& exit, Sample& sample);

/// Whether all guests of an engine have left and its pool has what it should have.
bool is_at_rest(const guest::Engine& engine, std::uint32_t pool);

/// Where guests see the host's folder of a row.
inline constexpr const char* host_folder = "/tare";

/// All permissions that make sense in a machine of its own, and room for large fan-outs.
guest::VmOptions vm_options();

/// The engine and the machine that serve the samples of a row.
class Lane {
 public:
  explicit Lane(guest::EngineOptions options) : options_(std::move(options)) {}

  const guest::EngineOptions& options() const { return options_; }

  /// Starts what is not there. `dir`: a folder of the host that the machine has at `host_folder`, writable.
  /// An engine sees the folders that it was started with, so another one needs another engine.
  void wake(const std::optional<std::string>& dir = {});
  const std::optional<std::string>& dir() const { return dir_; }
  guest::Engine& engine() { return *engine_; }
  guest::Vm& vm() { return *vm_; }
  /// Ends both: the memory and CPU of a fresh engine should not be beside another's.
  void close();

 private:
  guest::EngineOptions options_;
  std::optional<std::string> dir_;
  std::optional<guest::Engine> engine_;
  std::optional<guest::Vm> vm_;
};

/// What a row says when its budget is used up.
std::string late_text(std::uint32_t timeout_ms);

}  // namespace tare::guest_driver
