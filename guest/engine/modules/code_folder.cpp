#include "engine/modules/code_folder.hpp"

#include <map>
#include <node_version.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "engine/isolate/isolate.hpp"

namespace tare::engine {
namespace {

constexpr std::uint64_t most_code_of_folder = std::uint64_t{256} << 20;

}  // namespace

CodeFolder::CodeFolder(std::filesystem::path file) : file_(std::move(file)), cache_(most_code_of_folder) {
  file::check_writable(file_);
  cache_.load(file_, NODE_VERSION);
}

std::shared_ptr<CodeFolder> CodeFolder::open(const std::string& folder) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<CodeFolder>> known;
  const std::lock_guard lock(mutex);
  std::weak_ptr<CodeFolder>& place = known[folder];
  std::shared_ptr<CodeFolder> one = place.lock();
  if (one == nullptr) {
    std::erase_if(known, [&](const auto& entry) { return entry.second.expired() && entry.first != folder; });
    one = std::make_shared<CodeFolder>(std::filesystem::path(folder) / "guest-" NODE_VERSION ".code");
    known[folder] = one;
  }
  return one;
}

void CodeFolder::save() {
  const std::lock_guard lock(saving_);
  try {
    cache_.save(file_, NODE_VERSION);
  } catch (const Error& error) {
    if (engine().log) engine().log(guest::Level::warning, error.line());
  }
}

}  // namespace tare::engine
