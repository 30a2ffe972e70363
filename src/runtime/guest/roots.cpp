#include "runtime/guest/roots.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tare::guest {
namespace {

namespace fs = std::filesystem;

bool holds(const fs::path& folder, const fs::path& path) {
  const auto end = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first;
  return end == folder.end();
}

fs::path checked_root(const fs::path& root, MountAccess access, const Installation& installation) {
  const auto refuse = [&](const std::string& why, const std::string& hint = "") {
    return Error(ErrorCode::input, fmt::format("cannot mount {}", root.string()), why, hint);
  };
  std::error_code error;
  fs::path real = fs::canonical(root, error);
  if (error) throw refuse(error.message());
  if (!fs::is_directory(real, error)) throw refuse("it is not a folder");
  if (real == "/") throw refuse("it shows a guest all of this machine", "name a folder in it");
  for (const char* system : {"/proc", "/sys", "/dev"}) {
    if (holds(system, real)) throw refuse("it shows a guest more of this machine than files");
  }
  if (access == MountAccess::ro) return real;
  for (const fs::path& own :
       {installation.node, installation.lib, installation.launcher, installation.cache}) {
    if (own.empty()) continue;
    // A link is as much a part as what it leads to.
    const fs::path link = fs::weakly_canonical(own.parent_path(), error) / own.filename();
    for (const fs::path& part : {link, fs::weakly_canonical(own, error)}) {
      if (!holds(real, part) && !holds(part, real)) continue;
      throw refuse(fmt::format("a guest could change the engine's own files in {}", part.string()),
                   "mount it read-only, or a folder in it");
    }
  }
  return real;
}

}  // namespace

std::vector<fs::path> checked_roots(const std::vector<fs::path>& roots, MountAccess access,
                                    const Installation& installation) {
  std::vector<fs::path> checked;
  for (const fs::path& root : roots) checked.push_back(checked_root(root, access, installation));
  return checked;
}

void check_apart(const std::vector<fs::path>& cache_roots, const std::vector<fs::path>& writable_roots) {
  for (const fs::path& cache : cache_roots) {
    for (const fs::path& root : writable_roots) {
      if (!holds(root, cache) && !holds(cache, root)) continue;
      throw Error(ErrorCode::input, fmt::format("cannot keep code in {}", cache.string()),
                  fmt::format("guests may write to {}", root.string()), "name another folder");
    }
  }
}

void check_apart(const std::vector<Mount>& mounts) {
  for (const Mount& mount : mounts) {
    for (const Mount& other : mounts) {
      if (&mount == &other || mount.access == MountAccess::ro || !holds(mount.host, other.host)) continue;
      throw Error(ErrorCode::input, fmt::format("cannot mount {} twice", other.host),
                  fmt::format("at {} it is writable and at {} again", mount.guest, other.guest));
    }
    for (const Mount& other : mounts) {
      if (&mount == &other || mount.access == MountAccess::ro || !holds(other.host, mount.host)) continue;
      throw Error(ErrorCode::input, fmt::format("cannot mount {} twice", mount.host),
                  fmt::format("at {} it is writable and at {} again", mount.guest, other.guest));
    }
  }
}

bool is_beneath(const fs::path& path, const std::vector<fs::path>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](const fs::path& folder) { return holds(folder, path); });
}

}  // namespace tare::guest
