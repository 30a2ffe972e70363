#include "lab/driver/packages.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "lab/process/run.hpp"

namespace tare::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes npm_limit{15};
constexpr const char* lock_name = "package-lock.json";

/// Written last into an installed folder: the lock file that it was installed from.
constexpr const char* receipt_name = ".tare-installed";

/// A folder that is removed unless it was moved away.
class Staging {
 public:
  explicit Staging(fs::path path) : path_(std::move(path)) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Staging() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void run_npm(const fs::path& npm, const fs::path& folder, std::string_view name, int interrupt_fd) {
  process::SpawnOptions command;
  command.argv = {npm.string(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"};
  command.cwd = folder.string();
  process::RunOptions options;
  options.deadline = SystemClock().now() + npm_limit;
  options.interrupt = {interrupt_fd};
  const process::RunResult result = process::run(command, {}, options);
  if (result.exit.ok()) return;
  const std::string said = text::tail(result.err.empty() ? result.out : result.err, 3, 400);
  const std::string how = result.interrupted ? "interrupted"
                          : result.timed_out
                              ? fmt::format("npm took longer than {} minutes", npm_limit.count())
                              : "npm: " + process::describe(result.exit);
  throw Error(ErrorCode::failed, fmt::format("cannot install {}", name),
              said.empty() ? how : how + ": " + said, "is the npm registry reachable from here?");
}

/// The version that a package.json states, or nothing.
std::optional<std::string> version_of(const fs::path& manifest) {
  std::error_code error;
  if (!fs::is_regular_file(manifest, error)) return std::nullopt;
  try {
    const json::Value value = json::parse(file::read(manifest), manifest.string());
    return std::string(value.at("version").as_string());
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// The first package of the lock file that is not in the folder in that version; "" when all are. One that is
/// optional may be missing, as those of other machines are, but not be another version.
std::string missing_package(const fs::path& folder, const fs::path& lock) {
  const json::Value value = json::parse(file::read(lock), lock.string());
  for (const auto& package : value.at("packages").as_object()) {
    const json::Object& facts = package.value().as_object();
    if (package.key().empty() || !facts.contains("version")) continue;
    const auto there = version_of(folder / std::string(package.key()) / "package.json");
    if (!there && facts.contains("optional")) continue;
    if (!there || *there != facts.at("version").as_string()) return std::string(package.key());
  }
  return {};
}

}  // namespace

std::vector<std::string> package_names(const PackageOptions& options) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(options.manifests, error)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_installed(std::string_view name, const PackageOptions& options) {
  const fs::path folder = options.cache / name;
  std::error_code error;
  return fs::exists(folder / receipt_name, error) &&
         file::read(folder / receipt_name) == file::read(options.manifests / name / lock_name) &&
         missing_package(folder, options.manifests / name / lock_name).empty();
}

void install(std::string_view name, const PackageOptions& options) {
  const std::vector<std::string> known = package_names(options);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    const auto near = text::did_you_mean(name, known);
    throw Error(ErrorCode::usage, fmt::format("there is nothing to install for '{}'", name),
                "known: " + text::join(known, ", "), near ? fmt::format("did you mean '{}'?", *near) : "");
  }
  if (is_installed(name, options)) return;
  const fs::path npm = file::find_program("npm");
  if (npm.empty())
    throw Error(ErrorCode::unavailable, "npm is not installed", "", "`apt-get install npm` installs it");

  const fs::path target = options.cache / name;
  try {
    fs::create_directories(options.cache);
    const Staging staging(target.string() + fmt::format(".new-{}", ::getpid()));
    for (const char* file : {"package.json", lock_name})
      fs::copy(options.manifests / name / file, staging.path() / file);
    run_npm(npm, staging.path(), name, options.interrupt_fd);
    if (const std::string missing = missing_package(staging.path(), options.manifests / name / lock_name);
        !missing.empty()) {
      throw Error(ErrorCode::failed, fmt::format("cannot install {}", name),
                  fmt::format("npm ended well, but did not bring {}", missing));
    }
    file::write_atomically(staging.path() / receipt_name, file::read(options.manifests / name / lock_name));
    fs::remove_all(target);
    fs::rename(staging.path(), target);
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::failed, fmt::format("cannot install {} into {}", name, target.string()),
                error.code().message());
  }
}

}  // namespace tare::driver
