#include "engine/modules/code_folder.hpp"

#include <map>
#include <node_version.h>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "engine/isolate/isolate.hpp"

namespace tare::engine {
namespace {

constexpr std::uint64_t most_code_of_folder = std::uint64_t{256} << 20;

std::optional<CodeFolder::Facts> facts_of(const std::filesystem::path& file) {
  struct stat facts{};
  if (::stat(file.c_str(), &facts) != 0) return std::nullopt;
  return CodeFolder::Facts{facts.st_ino, facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec};
}

}  // namespace

CodeFolder::CodeFolder(std::filesystem::path file) : file_(std::move(file)), cache_(most_code_of_folder) {
  file::check_writable(file_);
  seen_ = facts_of(file_);
  cache_.load(file_, NODE_VERSION);
}

std::shared_ptr<CodeFolder> CodeFolder::open(const std::string& folder) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<CodeFolder>> known;
  static std::shared_ptr<CodeFolder> latest;
  const std::lock_guard lock(mutex);
  std::weak_ptr<CodeFolder>& place = known[folder];
  std::shared_ptr<CodeFolder> one = place.lock();
  // One that nobody but this function has is as good as what it would read.
  const bool stale = one != nullptr && one == latest && one.use_count() == 2 && !one->is_current();
  if (one == nullptr || stale) {
    std::erase_if(known, [&](const auto& entry) { return entry.second.expired() && entry.first != folder; });
    one = std::make_shared<CodeFolder>(std::filesystem::path(folder) / "guest-" NODE_VERSION ".code");
    known[folder] = one;
  }
  latest = one;
  return one;
}

bool CodeFolder::is_current() {
  const std::lock_guard lock(saving_);
  return facts_of(file_) == seen_;
}

void CodeFolder::save() {
  const std::lock_guard lock(saving_);
  const std::uint64_t kept = cache_.kept();
  if (kept == saved_) return;
  saved_ = kept;
  try {
    cache_.save(file_, NODE_VERSION);
    seen_ = facts_of(file_);
  } catch (const Error& error) {
    if (engine().log) engine().log(guest::Level::warning, error.line());
  }
}

}  // namespace tare::engine
