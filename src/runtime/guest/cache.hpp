#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/file.hpp"
#include "protocol/messages.hpp"
#include "runtime/guest/installation.hpp"

namespace tare::guest {

/// What the engine starts from, made once for each installation.
struct Prepared {
  std::filesystem::path pack;                     ///< the library's sources and tables
  std::filesystem::path snapshot;                 ///< a heap in which they have run
  std::optional<std::string> notice;              ///< for a person: why it is not in the cache
  std::shared_ptr<file::TemporaryFolder> folder;  ///< holds them, if it is not the cache
};

/// Names the files that belong to this installation and library: the version of Node, a hash of the path,
/// size and time of change of its program and of every file in lib, and the library. Throws
/// Error(unavailable).
std::string cache_key(const Installation& installation, Library library = Library::small);

enum class Reuse {
  allowed,
  refused,  ///< what is in the cache did not work: make it again
};

/// Finds both files in the cache or makes them there, one process at a time, and keeps those of the newest
/// six installations. A file that is damaged is made again. Where the cache cannot be written they are made
/// in a temporary folder. Throws Error(failed) with what the tool said that could not make them.
Prepared prepare(const Installation& installation, Library library = Library::small,
                 Reuse reuse = Reuse::allowed);

}  // namespace tare::guest
