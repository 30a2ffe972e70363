#include "engine/kernel/file_system.hpp"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include "engine/kernel/file_description.hpp"
#include "engine/kernel/inode.hpp"
#include "engine/kernel/mount.hpp"
#include "engine/kernel/path_walk.hpp"

namespace tare::kernel {

std::shared_ptr<FileSystem> FileSystem::create(const Limits& limits, const Clock& clock,
                                               std::shared_ptr<Counters> counters) {
  return std::make_shared<FileSystem>(Key(), limits, clock, std::move(counters));
}

FileSystem::FileSystem(Key, const Limits& limits, const Clock& clock, std::shared_ptr<Counters> counters)
    : clock_(clock), usage_(std::make_unique<Usage>(limits.file_bytes, limits.inodes, std::move(counters))) {
  root_ = std::make_shared<Inode>(*usage_, next_number_++, S_IFDIR | 0755, now_ns());
  root_->nlink = 1;
  add_defaults();
}

// One directory after the other: a deep tree must not become deep recursion.
FileSystem::~FileSystem() {
  std::vector<std::shared_ptr<Inode>> left{std::move(root_)};
  while (!left.empty()) {
    const std::shared_ptr<Inode> node = std::move(left.back());
    left.pop_back();
    if (!node->is_directory()) continue;
    for (auto& [name, child] : node->entries()) left.push_back(std::move(child));
    node->entries().clear();
  }
}

void FileSystem::add_defaults() {
  const auto add = [&](Inode& parent, std::string_view name, std::uint32_t mode) {
    auto node = std::make_shared<Inode>(*usage_, next_number_++, mode, now_ns());
    attach(parent, name, node);
    return node;
  };
  const auto bin = add(*root_, "bin", S_IFDIR | 0755);
  const auto dev = add(*root_, "dev", S_IFDIR | 0755);
  add(*root_, "root", S_IFDIR | 0700);
  add(*root_, "tmp", S_IFDIR | 01777);
  const auto usr = add(*root_, "usr", S_IFDIR | 0755);
  const auto usr_bin = add(*usr, "bin", S_IFDIR | 0755);
  add(*bin, "sh", S_IFREG | 0755)->program = Program::shell;
  add(*usr_bin, "node", S_IFREG | 0755)->program = Program::node;
  null_ = add(*dev, "null", S_IFCHR | 0666);
  null_->body = Device::null;
  add(*dev, "zero", S_IFCHR | 0666)->body = Device::zero;
  add(*dev, "urandom", S_IFCHR | 0666)->body = Device::random;
}

std::int64_t FileSystem::now_ns() const {
  return std::chrono::nanoseconds(clock_.wall().time_since_epoch()).count();
}

Result<void> FileSystem::allowed(const Origin& origin, std::string_view path) const {
  if (origin.fs == Permission::allow || path == "/dev/null") return {};
  if (usage_->counters) usage_->counters->refused(Refusal::fs_permission);
  return Errno{EACCES};
}

Result<Found> FileSystem::find(const Origin& origin, std::string_view path, Follow follow) const {
  if (const auto may = allowed(origin, path); !may.ok()) return may.failure();
  return walk(*root_, origin.cwd, path, follow);
}

Result<Inode*> FileSystem::find_node(const Origin& origin, std::string_view path, Follow follow) const {
  const auto found = find(origin, path, follow);
  if (!found.ok()) return found.failure();
  if (found->node == nullptr) return Errno{ENOENT};
  return found->node;
}

Result<Inode*> FileSystem::find_directory(const Origin& origin, std::string_view path) const {
  auto node = find_node(origin, path, Follow::yes);
  if (node.ok() && !(*node)->is_directory()) return Errno{ENOTDIR};
  return node;
}

Result<void> FileSystem::check_room(std::uint64_t used) const {
  if (used < usage_->inode_limit) return {};
  if (usage_->counters) usage_->counters->refused(Refusal::inode_limit);
  return Errno{ENOSPC};
}

Result<std::shared_ptr<Inode>> FileSystem::make_inode(std::uint32_t mode) {
  if (const auto room = check_room(std::max(usage_->inodes.load(), usage_->names.load())); !room.ok()) {
    return room.failure();
  }
  return std::make_shared<Inode>(*usage_, next_number_++, mode, now_ns());
}

void FileSystem::attach(Inode& parent, std::string_view name, std::shared_ptr<Inode> node) {
  ++node->nlink;
  if (node->is_directory()) ++parent.subdirectories;
  node->ctime_ns = now_ns();
  parent.entries().emplace(std::string(name), std::move(node));
  parent.modified(now_ns());
  usage_->names.fetch_add(1);
}

void FileSystem::detach(Inode& parent, std::string_view name) {
  const auto entry = parent.entries().find(name);
  const std::shared_ptr<Inode> node = entry->second;
  parent.entries().erase(entry);
  --node->nlink;
  if (node->is_directory()) --parent.subdirectories;
  node->ctime_ns = now_ns();
  parent.modified(now_ns());
  usage_->names.fetch_sub(1);
}

Result<Inode*> FileSystem::create_regular(const Found& found, std::uint32_t mode, int writer) {
  if (const auto& host = found.parent().host) {
    if (const auto room = check_room(usage_->inodes.load()); !room.ok()) return room.failure();
    return host->mount->create_file(found.parent(), found.name, mode, writer, now_ns());
  }
  auto made = make_inode(S_IFREG | (mode & 07777));
  if (!made.ok()) return made.failure();
  Inode* const node = made->get();
  attach(found.parent(), found.name, *std::move(made));
  return node;
}

Result<std::shared_ptr<Description>> FileSystem::describe(Inode& node, int flags, int writer) {
  const int kept = flags & (O_ACCMODE | O_APPEND);
  std::shared_ptr<Description> description;
  if (node.is_directory()) {
    description = std::make_shared<DirectoryDescription>(shared_from_this(), node.shared_from_this(), kept);
  } else if (node.is_regular()) {
    Fd host;
    if (node.on_host()) {
      auto opened = node.host->mount->open(node);
      if (!opened.ok()) return opened.failure();
      host = *std::move(opened);
    }
    description = std::make_shared<FileDescription>(shared_from_this(), node.shared_from_this(), kept,
                                                    std::move(host), writer);
  } else if (!std::holds_alternative<Device>(node.body)) {
    return Errno{EACCES};  // a pipe or a device of the host
  } else {
    description = std::make_shared<DeviceDescription>(shared_from_this(), node.shared_from_this(), kept);
  }
  return description;
}

Result<std::shared_ptr<Description>> FileSystem::open(const Origin& origin, std::string_view path, int flags,
                                                      std::uint32_t mode) {
  const bool create = (flags & O_CREAT) != 0;
  const bool exclusive = create && (flags & O_EXCL) != 0;
  if ((flags & O_ACCMODE) == O_ACCMODE || (create && (flags & O_DIRECTORY) != 0)) return Errno{EINVAL};

  const std::lock_guard lock(mutex_);
  forget();
  if (create && path.ends_with('/')) {
    const auto place = find(origin, path, Follow::parent);
    return place.ok() ? Errno{EISDIR} : place.failure();
  }
  const bool nofollow = exclusive || (flags & O_NOFOLLOW) != 0;
  const auto found = find(origin, path, nofollow ? Follow::no : Follow::yes);
  if (!found.ok()) return found.failure();
  Inode* node = found->node;
  if (create && found->trailing_slash) return Errno{EISDIR};
  if (node == nullptr) {
    if (!create) return Errno{ENOENT};
    const auto made = create_regular(*found, mode & ~origin.umask, origin.writer);
    if (!made.ok()) return made.failure();
    return describe(**made, flags, origin.writer);
  }
  if (exclusive) return Errno{EEXIST};
  if (create && node->is_directory()) return Errno{EISDIR};
  if ((flags & O_DIRECTORY) != 0 && !node->is_directory()) return Errno{ENOTDIR};
  if (node->is_symlink()) return Errno{ELOOP};
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
  if (writes && node->is_directory()) return Errno{EISDIR};
  if (writes && node->host) {
    if (const auto may = node->host->mount->may_write(*node); !may.ok()) return may.failure();
  }
  if ((flags & O_TRUNC) != 0 && node->is_regular()) {
    if (const auto emptied = truncate_node(*node, 0, origin.writer); !emptied.ok()) return emptied.failure();
  }
  return describe(*node, flags, origin.writer);
}

Result<Stat> FileSystem::stat(const Origin& origin, std::string_view path) const {
  const std::lock_guard lock(mutex_);
  forget();
  const auto node = find_node(origin, path, Follow::yes);
  if (!node.ok()) return node.failure();
  return (*node)->stat();
}

Result<Stat> FileSystem::lstat(const Origin& origin, std::string_view path) const {
  const std::lock_guard lock(mutex_);
  forget();
  const auto node = find_node(origin, path, Follow::no);
  if (!node.ok()) return node.failure();
  return (*node)->stat();
}

Result<void> FileSystem::access(const Origin& origin, std::string_view path, int mode) const {
  if ((mode & ~(R_OK | W_OK | X_OK)) != 0) return Errno{EINVAL};
  const std::lock_guard lock(mutex_);
  const auto node = find_node(origin, path, Follow::yes);
  if (!node.ok()) return node.failure();
  const bool executable = (*node)->is_directory() || ((*node)->mode & 0111) != 0;
  if ((mode & X_OK) != 0 && !executable) return Errno{EACCES};
  if ((mode & W_OK) != 0 && (*node)->host) return (*node)->host->mount->may_write(**node);
  return {};
}

Result<FileSystem::ModulePlace> FileSystem::module_place(const Origin& origin, std::string_view path) const {
  const std::lock_guard lock(mutex_);
  forget();
  const auto found = find(origin, path, Follow::yes);
  if (!found.ok()) return found.failure();
  if (found->node == nullptr) return Errno{ENOENT};
  if (found->node->is_directory()) return ModulePlace::directory;
  return found->path == path ? ModulePlace::real_file : ModulePlace::file;
}

Result<std::string> FileSystem::realpath(const Origin& origin, std::string_view path) const {
  const std::lock_guard lock(mutex_);
  auto found = find(origin, path, Follow::yes);
  if (!found.ok()) return found.failure();
  if (found->node == nullptr) return Errno{ENOENT};
  if (found->path.size() > 4095) return Errno{ENAMETOOLONG};
  return std::move(found->path);
}

Result<std::string> FileSystem::real_directory(const Origin& origin, std::string_view path) const {
  const std::lock_guard lock(mutex_);
  auto found = find(origin, path, Follow::yes);
  if (!found.ok()) return found.failure();
  if (found->node == nullptr) return Errno{ENOENT};
  if (!found->node->is_directory()) return Errno{ENOTDIR};
  if (found->path.size() > 4095) return Errno{ENAMETOOLONG};
  return std::move(found->path);
}

std::shared_ptr<Description> FileSystem::open_null() {
  return std::make_shared<DeviceDescription>(shared_from_this(), null_, O_RDWR);
}

Result<std::string> FileSystem::readlink(const Origin& origin, std::string_view path) const {
  const std::lock_guard lock(mutex_);
  const auto node = find_node(origin, path, Follow::no);
  if (!node.ok()) return node.failure();
  if (!(*node)->is_symlink()) return Errno{EINVAL};
  return (*node)->target();
}

Result<std::vector<DirectoryEntry>> FileSystem::read_directory(const Origin& origin,
                                                               std::string_view path) const {
  const std::lock_guard lock(mutex_);
  const auto directory = find_directory(origin, path);
  if (!directory.ok()) return directory.failure();
  if (const auto& host = (*directory)->host) return host->mount->list(**directory);
  std::vector<DirectoryEntry> entries;
  entries.reserve((*directory)->entries().size());
  for (const auto& [name, node] : (*directory)->entries())
    entries.push_back({name, node->type(), node->number});
  (*directory)->accessed(now_ns());
  return entries;
}

FsStat FileSystem::statfs() const {
  FsStat stat;
  stat.blocks = usage_->byte_limit / stat.bsize;
  stat.bfree = usage_->bytes_free() / stat.bsize;
  stat.files = usage_->inode_limit;
  stat.ffree = stat.files - std::min(stat.files, usage_->inodes.load());
  return stat;
}

Result<FsStat> FileSystem::statfs(const Origin& origin, std::string_view path) const {
  {
    const std::lock_guard lock(mutex_);
    const auto node = find_node(origin, path, Follow::yes);
    if (!node.ok()) return node.failure();
    if (const auto& host = (*node)->host) return host->mount->statfs(**node);
  }
  return statfs();
}

Result<std::string> FileSystem::read_file(const Origin& origin, std::string_view path) const {
  const std::lock_guard lock(mutex_);
  const auto node = find_node(origin, path, Follow::yes);
  if (!node.ok()) return node.failure();
  if ((*node)->is_directory()) return Errno{EISDIR};
  if (!(*node)->is_regular()) return std::string();
  // A sparse file says more than memory holds.
  if (static_cast<std::uint64_t>((*node)->size()) > usage_->byte_limit) return Errno{EFBIG};
  return read_whole(**node, static_cast<std::uint64_t>((*node)->size()));
}

Result<FileSystem::Executable> FileSystem::executable(const Origin& origin, std::string_view path) const {
  const std::lock_guard lock(mutex_);
  const auto node = find_node(origin, path, Follow::yes);
  if (!node.ok()) return node.failure();
  if (!(*node)->is_regular() || ((*node)->mode & 0111) == 0) return Errno{EACCES};
  auto begin = read_whole(**node, 256);
  if (!begin.ok()) return begin.failure();
  begin->resize(std::min(begin->find('\n'), begin->size()));
  return Executable{(*node)->program, *std::move(begin)};
}

}  // namespace tare::kernel
