#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "engine/modules/code_cache.hpp"

namespace tare::engine {

/// Code of what guests bring, kept in a folder of the host. Thread-safe.
class CodeFolder {
 public:
  /// The one of this process for a folder, with what was kept there. Throws Error(failed) when nothing can be
  /// kept there.
  static std::shared_ptr<CodeFolder> open(const std::string& folder);

  explicit CodeFolder(std::filesystem::path file);

  CodeCache& cache() { return cache_; }
  /// Writes what has come to the cache. A disk that is full costs the code, not the guest.
  void save();

 private:
  const std::filesystem::path file_;
  CodeCache cache_;
  std::mutex saving_;
};

}  // namespace tare::engine
