#include "lab/driver/import_workspace.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "lab/driver/packages.hpp"

namespace tare::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view workspace_manifest =
    "{\n  \"name\": \"tare-import\",\n  \"private\": true,\n  \"type\": \"module\"\n}\n";

std::string graph_module(int index) {
  if (index == 0) return "export const value = 1;\n";
  return fmt::format(
      "import {{ value as previous }} from './mod-{:02}.mjs';\nexport const value = previous + {};\n",
      index - 1, index);
}

std::string graph_root() {
  return fmt::format(
      "import {{ value }} from './mod-{:02}.mjs';\nexport {{ value }};\nexport const expected = {};\n",
      local_graph_modules - 1, local_graph_value());
}

}  // namespace

int local_graph_value() {
  int value = 1;
  for (int index = 1; index < local_graph_modules; ++index) value += index;
  return value;
}

ImportWorkspace::ImportWorkspace(const ImportSources& sources) : folder_("tare-import") {
  try {
    file::write_atomically(path() / "package.json", workspace_manifest);
    copy_programs(sources.programs);
    write_graph();
    link_packages(sources);
    fs::create_directory(path() / "cache");
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::failed, fmt::format("cannot make {}", path().string()), error.code().message());
  }
}

void ImportWorkspace::copy_programs(const fs::path& from) const {
  std::error_code error;
  if (!fs::is_directory(from, error)) {
    throw Error(ErrorCode::unavailable, fmt::format("{} is missing", from.string()), "",
                "build Tare or install it again");
  }
  const fs::path bench = path() / "bench";
  fs::create_directory(bench);
  for (const auto& entry : fs::directory_iterator(from)) {
    if (entry.path().extension() != ".mjs" || !entry.is_regular_file()) continue;
    fs::copy_file(entry.path(), bench / entry.path().filename());
  }
}

void ImportWorkspace::write_graph() const {
  const fs::path graph = path() / "bench" / "local-graph";
  fs::create_directories(graph);
  for (int index = 0; index < local_graph_modules; ++index)
    file::write_atomically(graph / fmt::format("mod-{:02}.mjs", index), graph_module(index));
  file::write_atomically(graph / "root.mjs", graph_root());
}

void ImportWorkspace::link_packages(const ImportSources& sources) {
  PackageOptions packages;
  packages.manifests = sources.manifests;
  packages.cache = sources.packages.parent_path();
  std::error_code error;
  if (!fs::exists(sources.manifests / import_packages, error) || !is_installed(import_packages, packages))
    return;
  node_modules_ = fs::canonical(sources.packages / "node_modules");
  fs::create_directory_symlink(*node_modules_, path() / "node_modules");
}

std::optional<std::string> ImportWorkspace::why_not(std::string_view row) const {
  const ImportScenario* scenario = import_scenario(row);
  if (scenario == nullptr || !scenario->needs || node_modules_) return std::nullopt;
  return fmt::format("{} is not installed; run: tare targets install {}", *scenario->needs, import_packages);
}

ImportPlace ImportWorkspace::place(std::string_view row, std::string_view target,
                                   std::uint64_t worker) const {
  ImportPlace place{path(), {}, node_modules_};
  const ImportScenario* scenario = import_scenario(row);
  if (scenario == nullptr || scenario->compile_cache != cache_primed) return place;
  place.cache = path() / "cache" / row / target / std::to_string(worker);
  try {
    fs::remove_all(place.cache);
    fs::create_directories(place.cache);
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::failed, fmt::format("cannot make {}", place.cache.string()),
                error.code().message());
  }
  return place;
}

}  // namespace tare::driver
