// What a FileSystem does with its mounts, and what it reads through them.
#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include "engine/kernel/file_description.hpp"
#include "engine/kernel/file_system.hpp"
#include "engine/kernel/inode.hpp"
#include "engine/kernel/mount.hpp"
#include "engine/kernel/path_walk.hpp"

namespace tare::kernel {

Result<void> FileSystem::mount(std::string_view path, HostFolder folder, MountAccess access) {
  for (std::size_t slash = path.find('/', 1); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    const auto made = mkdir({}, path.substr(0, slash), 0755);
    if (!made.ok() && made.error() != EEXIST) return made;
  }
  const std::lock_guard lock(mutex_);
  const auto found = find({}, path, Follow::parent);
  if (!found.ok()) return found.failure();
  if (found->last != Found::Last::name) return Errno{EINVAL};
  if (found->parent().host) return Errno{ENOTSUP};
  if (Inode* const node = found->node; node != nullptr) {
    if (node->host || !node->is_directory() || !node->entries().empty()) return Errno{EBUSY};
    detach(found->parent(), found->name);
  }
  auto mount = std::make_unique<Mount>(
      *usage_, std::move(folder),
      Mount::Options{found->path, 2 + mounts_.size(),
                     access == MountAccess::write ? Mount::Access::write : Mount::Access::read},
      now_ns());
  attach(found->parent(), found->name, mount->root());
  mounts_.push_back({found->path, std::move(mount)});
  return {};
}

std::optional<std::string> FileSystem::read_known(const Origin& origin, std::string_view path) const {
  if (origin.fs != Permission::allow) return std::nullopt;
  const std::lock_guard lock(mutex_);
  for (const MountPoint& point : mounts_) {
    const std::size_t size = point.path.size();
    if (path.size() > size && path.starts_with(point.path) && path[size] == '/')
      return point.mount->read_known(path.substr(size + 1));
  }
  return std::nullopt;
}

void FileSystem::begin_writer(int writer) {
  if (mounts_.empty()) return;
  const std::lock_guard lock(mutex_);
  living_.insert(writer);
}

std::optional<Synced> FileSystem::end_writer(int writer) {
  if (mounts_.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  living_.erase(writer);
  std::optional<Synced> synced;
  for (const MountPoint& point : mounts_) {
    if (!point.mount->has_written(writer)) continue;
    if (!synced) synced.emplace();
    point.mount->sync(writer, *synced);
  }
  return synced;
}

Synced FileSystem::sync() {
  const std::lock_guard lock(mutex_);
  Synced synced;
  for (const MountPoint& point : mounts_) point.mount->sync(std::nullopt, synced);
  return synced;
}

bool FileSystem::holds_mount(std::string_view path) const {
  return std::any_of(mounts_.begin(), mounts_.end(), [&](const MountPoint& point) {
    return point.path.starts_with(path) &&
           (point.path.size() == path.size() || point.path[path.size()] == '/');
  });
}

void FileSystem::forget() const {
  for (const MountPoint& point : mounts_) point.mount->forget();
}

Result<std::string> FileSystem::read_whole(Inode& node, std::uint64_t most) const {
  Fd host;
  if (node.on_host()) {
    auto opened = node.host->mount->open(node);
    if (!opened.ok()) return opened.failure();
    host = *std::move(opened);
  }
  std::string text(most, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto into = std::as_writable_bytes(std::span(text).subspan(size));
    const auto read = read_content(node, host, into, static_cast<std::int64_t>(size));
    if (!read.ok()) return read.failure();
    if (*read == 0) break;
    size += *read;
  }
  text.resize(size);
  return text;
}

}  // namespace tare::kernel
