#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "runtime/guest/engine.hpp"
#include "runtime/guest_driver/sample.hpp"

namespace tare::guest_driver {

/// What of the host an import row's guests see, and where compiled code is kept.
struct ImportPlace {
  std::filesystem::path bench;                        ///< at /root/bench
  std::optional<std::filesystem::path> node_modules;  ///< at /root/node_modules
  std::optional<std::filesystem::path> cache;         ///< without it no compiled code is used

  bool operator==(const ImportPlace&) const = default;
};

/// An engine that may show those folders, with so many isolates that are kept ready.
guest::EngineOptions import_engine(guest::EngineOptions options, const ImportPlace& place,
                                   std::uint32_t pool);

/// A virtual machine and a context in it, in which programs of the place are run.
class ImportContext {
 public:
  ImportContext(guest::Engine& engine, const ImportPlace& place);

  /// Runs a program below /root, with pipes.
  guest::Execution spawn(const std::string& entry);

 private:
  std::pair<guest::Vm, guest::Context> machine_;
};

/// What the engine tells of a guest's code and isolate: cacheAccepted, cacheRejected, cacheMissed, pooled.
void count_context(const guest::Exit& exit, Sample& sample);

}  // namespace tare::guest_driver
