#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages.hpp"
#include "runtime/guest/execution.hpp"

namespace tare::guest {

class Connection;

struct VmOptions {
  Permissions permissions;                 ///< all denied
  Limits limits;                           ///< the engine's own where absent
  std::map<std::string, std::string> env;  ///< seen by guests only with the permission
  std::string cwd = "/root";
  /// Each beneath a root of the engine. What a guest writes there comes to the host when it has ended.
  std::vector<Mount> mounts;
};

struct SpawnOptions {
  std::vector<std::string> argv;  ///< {"node", "-e", "1 + 1"}
  std::optional<std::string> cwd;
  std::optional<std::map<std::string, std::string>> env;
  Stdio stdio = Stdio::ignore;
  std::optional<std::chrono::milliseconds> timeout;  ///< the engine ends it then: reason wallTime
  std::vector<ProfileKind> profiles;                 ///< see Execution::take_profile
};

struct ContextOptions {
  std::optional<std::string> bootstrap;  ///< a script that runs before the program of each guest
  CodeCacheMode code_cache = CodeCacheMode::shared;
  /// Of the mode folder: beneath a cache root of the engine. It keeps what the engine's version, V8 and flags
  /// can use again.
  std::optional<std::string> compile_cache_dir;
};

/// What guests of a virtual machine have in common, and the processes that they start.
class Context {
 public:
  struct State;
  explicit Context(std::shared_ptr<State> state) : state_(std::move(state)) {}

  /// As Vm::spawn.
  Execution spawn(const SpawnOptions& options);

 private:
  std::shared_ptr<State> state_;
};

/// A virtual machine: files in memory, a table of processes, permissions and limits. It lives in one engine
/// process: when that is lost, so is the machine with its files, and every call says so. Thread-safe. Moves,
/// does not copy; executions and contexts keep what they need of it.
class Vm {
 public:
  struct State;
  explicit Vm(std::shared_ptr<State> state);
  Vm(Vm&&) noexcept = default;
  Vm& operator=(Vm&&) noexcept = default;
  /// As dispose(), without saying what there was.
  ~Vm();

  /// Writes a file, at most 16 MiB, and makes the folders above it. Throws Error(failed) with the errno's
  /// text.
  void write_file(const std::string& path, std::string_view content, std::uint32_t mode = 0644);

  /// Starts a guest, without waiting until it runs. A refusal (no such program, too many processes) is the
  /// exit of the execution. Throws Error(failed) when the engine is lost.
  Execution spawn(const SpawnOptions& options);

  /// Throws Error(input) for a folder that is not beneath a cache root, Error(failed) for one that cannot be
  /// used.
  Context create_context(const ContextOptions& options);

  struct Disposed {
    std::uint64_t killed = 0;      ///< processes that still lived
    std::uint64_t files_lost = 0;  ///< that they wrote into mounts, and that could not be written back
    std::vector<std::string> sync_problems;
  };
  /// Kills what lives in it, writes back what that has written into mounts, and frees it. Throws
  /// Error(failed).
  Disposed dispose();

 private:
  std::shared_ptr<State> state_;
};

}  // namespace tare::guest
