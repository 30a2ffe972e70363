#include "guest_mounts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tare::cli {
namespace {

namespace fs = std::filesystem;

bool take_suffix(std::string& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.resize(text.size() - suffix.size());
  return true;
}

}  // namespace

guest::Mount mount_of(const std::string& text) {
  guest::Mount mount;
  std::string rest = text;
  if (take_suffix(rest, ":rw")) {
    mount.access = guest::MountAccess::rw;
  } else {
    take_suffix(rest, ":ro");
  }
  const std::size_t colon = rest.rfind(":/");
  if (colon == std::string::npos || colon == 0) {
    throw Error(ErrorCode::usage, fmt::format("--mount needs HOST:GUEST[:ro|:rw], got '{}'", text), "",
                "as in --mount .:/project:rw");
  }
  mount.guest = fs::path(rest.substr(colon + 1)).lexically_normal().string();
  if (mount.guest.size() > 1 && mount.guest.ends_with('/')) mount.guest.pop_back();
  if (mount.guest.find(':') != std::string::npos) {
    throw Error(ErrorCode::usage,
                fmt::format("--mount has no access '{}'", mount.guest.substr(mount.guest.rfind(':') + 1)),
                "known: ro, rw", "as in --mount .:/project:rw");
  }
  if (mount.guest == "/") {
    throw Error(ErrorCode::usage, "--mount cannot be at /", "the guest's own folders are there",
                "as in --mount .:/project:rw");
  }
  std::error_code error;
  const fs::path host = fs::canonical(rest.substr(0, colon), error);
  if (error)
    throw Error(ErrorCode::input, fmt::format("cannot mount {}", rest.substr(0, colon)), error.message());
  mount.host = host.string();
  return mount;
}

void add_roots(guest::EngineOptions& options, const std::vector<guest::Mount>& mounts) {
  for (const guest::Mount& mount : mounts)
    (mount.access == guest::MountAccess::rw ? options.roots : options.readable_roots)
        .emplace_back(mount.host);
}

std::optional<std::string> path_in(const std::vector<guest::Mount>& mounts, const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error) return std::nullopt;
  for (const guest::Mount& mount : mounts) {
    const fs::path below = real.lexically_relative(mount.host);
    if (!below.empty() && *below.begin() != ".." && below != ".")
      return (fs::path(mount.guest) / below).string();
  }
  return std::nullopt;
}

}  // namespace tare::cli
