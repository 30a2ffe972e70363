#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"

/// The npm packages that targets need, pinned by a lock file each. They are installed into the cache folder,
/// never globally.
namespace tare::driver {

struct PackageOptions {
  std::filesystem::path manifests =
      file::share_folder() / "packages";  ///< <name>/package.json and its lock file
  std::filesystem::path cache = file::cache_folder();
  int interrupt_fd = -1;
};

/// The names that can be installed.
std::vector<std::string> package_names(const PackageOptions& options);

/// Whether all of it is there, by the lock file of this version.
bool is_installed(std::string_view name, const PackageOptions& options);

/// Installs with `npm ci`, without running scripts of packages, beside the final place and then moves it
/// there, so that it is never half installed. Throws Error(usage) for an unknown name, Error(unavailable)
/// without npm, Error(failed) with what npm said last.
void install(std::string_view name, const PackageOptions& options);

}  // namespace tare::driver
