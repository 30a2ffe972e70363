#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/modules/code_cache.hpp"

namespace tare::engine {

/// Code of what guests bring, kept in a folder of the host. Thread-safe.
class CodeFolder {
 public:
  /// The one of this process for a folder, with what was kept there. It is kept until another one is asked
  /// for: the next context of the same folder finds all as it was, unless somebody else has written there.
  /// Throws Error(failed) when nothing can be kept there.
  static std::shared_ptr<CodeFolder> open(const std::string& folder);

  explicit CodeFolder(std::filesystem::path file);

  CodeCache& cache() { return cache_; }
  /// Writes what has come to the cache, if something has. A disk that is full costs the code, not the guest.
  void save();

  /// Of the file, without reading it.
  struct Facts {
    std::uint64_t number;
    std::int64_t size;
    std::int64_t changed_s;
    std::int64_t changed_ns;
    bool operator==(const Facts&) const = default;
  };

 private:
  /// Whether the file is as it was read or written.
  bool is_current();

  const std::filesystem::path file_;
  CodeCache cache_;
  std::mutex saving_;
  std::optional<Facts> seen_;
  std::uint64_t saved_ = 0;  ///< of what was kept
};

}  // namespace tare::engine
