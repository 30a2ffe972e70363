#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.hpp"
#include "lab/driver/import.hpp"

namespace tare::driver {

/// Where what the workspace is made of comes from.
struct ImportSources {
  std::filesystem::path programs = file::share_folder() / "import";         ///< the entry points
  std::filesystem::path manifests = file::share_folder() / "packages";      ///< what is pinned
  std::filesystem::path packages = file::cache_folder() / import_packages;  ///< holds node_modules
};

/// The folder in which the programs of the import bench are: package.json, bench/, node_modules if the
/// packages are installed, cache/. Temporary: removed at the end of its scope, whatever programs left in it.
class ImportWorkspace {
 public:
  /// Throws Error(unavailable) when the programs are not there, Error(failed) when it cannot be made.
  explicit ImportWorkspace(const ImportSources& sources = {});

  const std::filesystem::path& path() const { return folder_.path(); }

  /// Why a row cannot run here: the package that it needs is not installed.
  std::optional<std::string> why_not(std::string_view row) const;

  /// Where a row runs for one worker of a target. A primed row gets a folder of its own, made empty.
  ImportPlace place(std::string_view row, std::string_view target, std::uint64_t worker) const;

 private:
  void copy_programs(const std::filesystem::path& from) const;
  void write_graph() const;
  void link_packages(const ImportSources& sources);

  file::TemporaryFolder folder_;
  std::optional<std::filesystem::path> node_modules_;
};

/// How many modules the local graph is a chain of, and what its last one exports: 1 + 1 + 2 + … + 23.
inline constexpr int local_graph_modules = 24;
int local_graph_value();

}  // namespace tare::driver
