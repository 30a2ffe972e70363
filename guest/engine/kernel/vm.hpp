#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "engine/kernel/counters.hpp"
#include "engine/kernel/file_system.hpp"
#include "engine/kernel/limits.hpp"
#include "engine/kernel/permissions.hpp"
#include "engine/kernel/process_table.hpp"

namespace tare::kernel {

/// What a guest sees as its machine: files, processes, permissions, limits. Thread-safe. Processes keep it
/// alive, so it goes when the last of them has ended and nobody else holds it.
class Vm : public std::enable_shared_from_this<Vm> {
  struct Key {
    explicit Key() = default;
  };

 public:
  struct Options {
    Limits limits = {};
    Permissions permissions = {};
  };

  /// `clock` must outlive the Vm.
  static std::shared_ptr<Vm> create(Options options, const Clock& clock, std::shared_ptr<Runner> runner);
  /// Through create(), as processes share it.
  Vm(Key, Options options, const Clock& clock, std::shared_ptr<Runner> runner);
  Vm(const Vm&) = delete;
  Vm& operator=(const Vm&) = delete;

  const Limits& limits() const { return options_.limits; }
  const Permissions& permissions() const { return options_.permissions; }
  const Clock& clock() const { return clock_; }
  FileSystem& files() { return *files_; }
  ProcessTable& processes() { return processes_; }
  Counters& counters() { return *counters_; }
  const std::shared_ptr<Counters>& shared_counters() const { return counters_; }

  /// How files went back to the host when processes ended since the last call, with some hundred problems.
  Synced take_synced();
  void add_synced(Synced synced);

  /// Kills every process; nothing can be started any more. How many were alive. Their threads end a little
  /// later: processes().wait_until_empty() says when.
  std::size_t dispose(const std::string& reason = "the virtual machine was disposed");

 private:
  const Options options_;
  const Clock& clock_;
  const std::shared_ptr<Counters> counters_;
  const std::shared_ptr<FileSystem> files_;
  ProcessTable processes_;
  std::mutex mutex_;
  Synced synced_;
};

}  // namespace tare::kernel
