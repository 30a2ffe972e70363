#pragma once

#include <filesystem>
#include <vector>

#include "protocol/messages.hpp"
#include "runtime/guest/installation.hpp"

namespace tare::guest {

/// The real paths of folders that an engine process is to see. Throws Error(input) for what is no folder, for
/// what shows more of this machine than files (/, /proc, /sys, /dev), and for a writable one that holds what
/// the engine itself is made of: a guest could change that.
std::vector<std::filesystem::path> checked_roots(const std::vector<std::filesystem::path>& roots,
                                                 MountAccess access, const Installation& installation);

/// Two mounts of one machine may not show one folder if one of them is writable: what is written through one
/// would not be seen through the other. Throws Error(input).
void check_apart(const std::vector<Mount>& mounts);

/// A folder of code may not be one that guests may write, nor hold one or lie beneath one. Throws
/// Error(input).
void check_apart(const std::vector<std::filesystem::path>& cache_roots,
                 const std::vector<std::filesystem::path>& writable_roots);

/// Whether an absolute path without links is one of the folders or lies beneath one.
bool is_beneath(const std::filesystem::path& path, const std::vector<std::filesystem::path>& folders);

}  // namespace tare::guest
