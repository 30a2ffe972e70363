#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/messages.hpp"
#include "runtime/guest/installation.hpp"
#include "runtime/guest/vm.hpp"

/// The client of the guest engine: it starts the engine's process, makes virtual machines in it and runs
/// guests in those.
namespace tare::guest {

struct EngineOptions {
  std::uint32_t pool = 8;            ///< isolates that are kept ready for a start; 0: every start is cold
  Library library = Library::small;  ///< of each of them
  Access network = Access::deny;     ///< of the engine process itself; a machine needs it too
  std::vector<std::filesystem::path> roots;  ///< folders of the host at and below which mounts may lie
  std::vector<std::filesystem::path> readable_roots;  ///< the same for mounts that are read-only
  /// Folders at and below which contexts may keep code (ContextOptions). No guest may write there: V8 runs
  /// what is in them as it is.
  std::vector<std::filesystem::path> cache_roots;
  /// The engine kills itself beyond it.
  std::uint64_t memory_limit_bytes = std::uint64_t{2} << 30;
  /// Beyond it the next machine is made in a fresh process (see Engine).
  std::uint64_t recycle_bytes = std::uint64_t{1} << 30;
  std::chrono::milliseconds start_limit{10'000};
  bool trace = false;  ///< count stages, and the moments of each guest; that takes time
  Installation installation = find_installation();
  /// What the engine and this client have to tell, one line each. Called from whichever thread waits for
  /// something, one at a time or not.
  std::function<void(Level, const std::string&)> log;
};

/// Supervises engine processes. Thread-safe; machines and executions may outlive it.
///
/// When the process dies, each live guest ends with the reason "lost", its machines say so at the next call,
/// and the next create_vm starts another process; a fourth failure within 10 s is too many. A process that
/// holds more than `recycle_bytes` gets no new machines: the next one is made in a fresh process, and the old
/// one leaves with its last machine and execution. So no file of a machine is ever lost to recycling.
class Engine {
 public:
  /// Starts a process, after making what it starts from where that is not cached. Throws Error(unavailable)
  /// when a part is missing, Error(input) for a root that no guest may see or a cache root that one could
  /// write, Error(failed) when it does not start.
  static Engine start(EngineOptions options);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  /// As stop(); what it had to stop goes to the log.
  ~Engine();

  /// Throws Error(input) for a mount that is not beneath a root, Error(failed) for one that cannot be made.
  Vm create_vm(const VmOptions& options = {});

  /// A machine with a context in it, in one exchange with the engine. Throws as create_vm and
  /// Vm::create_context.
  std::pair<Vm, Context> create_vm(const VmOptions& options, const ContextOptions& context);

  /// What the present process says of itself.
  Ready about() const;
  /// Of the present process.
  std::map<std::string, std::int64_t> stats() const;
  /// Of an engine that traces: the stages of the present process. Throws Error(unavailable) when it was built
  /// without them.
  StageReport stages() const;
  /// Of all processes that still serve a machine.
  std::vector<int> pids() const;

  struct Stopped {
    std::vector<std::string> guests;  ///< some of those that still lived, by their command
    bool forced = false;              ///< the process had to be killed
  };
  /// Ends the present process within 4 s, and with it all machines in it.
  Stopped stop();

 private:
  class Core;
  explicit Engine(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  std::shared_ptr<Core> core_;
};

/// What of the launcher's isolation can be active here, without starting an engine. Throws
/// Error(unavailable).
Isolation probe_isolation(const Installation& installation);

}  // namespace tare::guest
