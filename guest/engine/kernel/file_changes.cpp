// What changes the tree: names made, moved and removed. Every function checks in Linux's order.
#include <algorithm>
#include <array>
#include <cerrno>

#include <unistd.h>

#include "engine/kernel/file_description.hpp"
#include "engine/kernel/file_system.hpp"
#include "engine/kernel/inode.hpp"
#include "engine/kernel/mount.hpp"
#include "engine/kernel/path_walk.hpp"

namespace tare::kernel {
namespace {

/// What the usual file systems of a host take (ext4).
constexpr std::int64_t max_host_file_size = (std::int64_t{1} << 44) - 4096;
constexpr std::uint32_t max_hard_links = 65'000;

/// Whether a name can be made there: for everything but a directory no slash may follow.
Result<void> may_make(const Result<Found>& found) {
  if (!found.ok()) return found.failure();
  if (found->last != Found::Last::name || found->node != nullptr) return Errno{EEXIST};
  if (found->trailing_slash) return Errno{ENOENT};
  return {};
}

/// May what `from` names take the name `to`, and what it stands for so far?
Result<void> may_replace(const Found& from, const Found& to) {
  const auto within = [](const Found& place, const Inode* node) {
    return std::find(place.above.begin(), place.above.end(), node) != place.above.end();
  };
  if (from.node == nullptr) return Errno{ENOENT};
  if (!from.node->is_directory() && (from.trailing_slash || to.trailing_slash)) return Errno{ENOTDIR};
  if (within(to, from.node)) return Errno{EINVAL};
  if (to.node == nullptr) return {};
  if (within(from, to.node)) return Errno{ENOTEMPTY};
  if (from.node == to.node) return {};
  if (from.node->is_directory()) {
    if (!to.node->is_directory()) return Errno{ENOTDIR};
    if (!to.node->host && !to.node->entries().empty()) return Errno{ENOTEMPTY};
  } else if (to.node->is_directory()) {
    return Errno{EISDIR};
  }
  return {};
}

const Mount* mount_of(const Inode& node) {
  return node.host ? node.host->mount : nullptr;
}

std::string random_letters(std::size_t count) {
  constexpr std::string_view name_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::string letters(count, ' ');
  std::array<std::byte, 32> random{};
  fill_random(random);
  for (std::size_t i = 0; i < count; ++i) {
    letters[i] = name_letters[std::to_integer<std::size_t>(random.at(i)) % name_letters.size()];
  }
  return letters;
}

}  // namespace

Result<void> FileSystem::mkdir(const Origin& origin, std::string_view path, std::uint32_t mode) {
  const std::lock_guard lock(mutex_);
  const auto found = find(origin, path, Follow::parent);
  if (!found.ok()) return found.failure();
  if (found->last != Found::Last::name || found->node != nullptr) return Errno{EEXIST};
  mode &= 01777 & ~origin.umask;
  if (const auto& host = found->parent().host) {
    return host->mount->make_directory(found->parent(), found->name, mode);
  }
  auto made = make_inode(S_IFDIR | mode);
  if (!made.ok()) return made.failure();
  attach(found->parent(), found->name, *std::move(made));
  return {};
}

Result<std::string> FileSystem::mkdtemp(const Origin& origin, std::string_view prefix) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string path = std::string(prefix) + random_letters(6);
    const auto made = mkdir(origin, path, 0700);
    if (made.ok()) return path;
    if (made.error() != EEXIST) return made.failure();
  }
  return Errno{EEXIST};
}

Result<void> FileSystem::unlink(const Origin& origin, std::string_view path) {
  const std::lock_guard lock(mutex_);
  const auto found = find(origin, path, Follow::parent);
  if (!found.ok()) return found.failure();
  if (found->last != Found::Last::name) return Errno{EISDIR};
  if (found->node == nullptr) return Errno{ENOENT};
  if (found->node->is_directory()) return Errno{EISDIR};
  if (found->trailing_slash) return Errno{ENOTDIR};
  if (const auto& host = found->node->host) return host->mount->remove(*found->node);
  detach(found->parent(), found->name);
  return {};
}

Result<void> FileSystem::rmdir(const Origin& origin, std::string_view path) {
  const std::lock_guard lock(mutex_);
  const auto found = find(origin, path, Follow::parent);
  if (!found.ok()) return found.failure();
  if (found->last == Found::Last::root) return Errno{EBUSY};
  if (found->last == Found::Last::dot) return Errno{EINVAL};
  if (found->last == Found::Last::dot_dot) return Errno{ENOTEMPTY};
  if (found->node == nullptr) return Errno{ENOENT};
  if (!found->node->is_directory()) return Errno{ENOTDIR};
  if (const auto& host = found->node->host) return host->mount->remove(*found->node);
  if (!found->node->entries().empty()) return Errno{ENOTEMPTY};
  detach(found->parent(), found->name);
  return {};
}

// Deepest first without recursion: a tree may be deeper than the stack of a guest's thread.
void FileSystem::clear(Inode& directory) {
  std::vector<Inode*> open{&directory};
  while (!open.empty()) {
    Inode& last = *open.back();
    if (last.entries().empty()) {
      open.pop_back();
      continue;
    }
    const auto first = last.entries().begin();
    if (first->second->is_directory() && !first->second->entries().empty()) {
      open.push_back(first->second.get());
    } else {
      detach(last, std::string(first->first));
    }
  }
}

Result<void> FileSystem::remove_tree(const Origin& origin, std::string_view path) {
  const std::lock_guard lock(mutex_);
  const auto found = find(origin, path, Follow::parent);
  if (!found.ok()) return found.failure();
  if (found->last == Found::Last::root) return Errno{EBUSY};
  if (found->last == Found::Last::dot) return Errno{EINVAL};
  if (found->last == Found::Last::dot_dot) return Errno{ENOTEMPTY};
  if (found->node == nullptr) return Errno{ENOENT};
  if (found->trailing_slash && !found->node->is_directory()) return Errno{ENOTDIR};
  if (const auto& host = found->node->host) return host->mount->remove_tree(*found->node);
  if (found->node->is_directory()) {
    if (holds_mount(found->path)) return Errno{EBUSY};
    clear(*found->node);
  }
  detach(found->parent(), found->name);
  return {};
}

Result<void> FileSystem::rename(const Origin& origin, std::string_view from, std::string_view to) {
  const std::lock_guard lock(mutex_);
  const auto source = find(origin, from, Follow::parent);
  if (!source.ok()) return source.failure();
  const auto target = find(origin, to, Follow::parent);
  if (!target.ok()) return target.failure();
  if (source->last != Found::Last::name || target->last != Found::Last::name) return Errno{EBUSY};
  if (const auto may = may_replace(*source, *target); !may.ok()) return may;
  if (source->node == target->node) return {};
  if (mount_of(source->parent()) != mount_of(target->parent())) return Errno{EXDEV};
  if (const auto& host = source->node->host; host && !host->is_root())
    return host->mount->rename(*source->node, target->parent(), target->name, target->node);
  if (holds_mount(source->path) || holds_mount(target->path)) return Errno{EBUSY};
  // The name is made before the old one goes, as it may be the last reference.
  const std::shared_ptr<Inode> node = source->node->shared_from_this();
  if (target->node != nullptr) detach(target->parent(), target->name);
  detach(source->parent(), source->name);
  attach(target->parent(), target->name, node);
  return {};
}

Result<void> FileSystem::link(const Origin& origin, std::string_view existing, std::string_view path) {
  const std::lock_guard lock(mutex_);
  const auto node = find_node(origin, existing, Follow::no);
  if (!node.ok()) return node.failure();
  const auto found = find(origin, path, Follow::parent);
  if (const auto may = may_make(found); !may.ok()) return may;
  if ((*node)->is_directory()) return Errno{EPERM};
  if (mount_of(**node) != mount_of(found->parent())) return Errno{EXDEV};
  if (const auto& host = (*node)->host) return host->mount->link(**node, found->parent(), found->name);
  if ((*node)->nlink >= max_hard_links) return Errno{EMLINK};
  if (auto room = check_room(usage_->names.load()); !room.ok()) return room;
  attach(found->parent(), found->name, (*node)->shared_from_this());
  return {};
}

Result<void> FileSystem::symlink(const Origin& origin, std::string_view target, std::string_view path) {
  if (target.empty()) return Errno{ENOENT};
  if (target.find('\0') != std::string_view::npos) return Errno{EINVAL};
  if (target.size() > max_path) return Errno{ENAMETOOLONG};
  const std::lock_guard lock(mutex_);
  const auto found = find(origin, path, Follow::parent);
  if (const auto may = may_make(found); !may.ok()) return may;
  if (const auto& host = found->parent().host)
    return host->mount->make_symlink(found->parent(), found->name, std::string(target));
  if (usage_->bytes_free() < target.size()) {
    if (usage_->counters) usage_->counters->refused(Refusal::file_byte_limit);
    return Errno{ENOSPC};
  }
  auto made = make_inode(S_IFLNK | 0777);
  if (!made.ok()) return made.failure();
  (*made)->set_target(std::string(target));
  attach(found->parent(), found->name, *std::move(made));
  return {};
}

template <class Change>
Result<void> FileSystem::change(const Origin& origin, std::string_view path, Follow follow, Change change) {
  const std::lock_guard lock(mutex_);
  const auto node = find_node(origin, path, follow);
  if (!node.ok()) return node.failure();
  return change(**node);
}

Result<void> FileSystem::chmod(const Origin& origin, std::string_view path, std::uint32_t mode) {
  return change(origin, path, Follow::yes, [&](Inode& node) { return set_mode(node, mode, now_ns()); });
}

Result<void> FileSystem::chown(const Origin& origin, std::string_view path, Owner owner) {
  return change(origin, path, Follow::yes, [&](Inode& node) { return set_owner(node, owner, now_ns()); });
}

Result<void> FileSystem::lchown(const Origin& origin, std::string_view path, Owner owner) {
  return change(origin, path, Follow::no, [&](Inode& node) { return set_owner(node, owner, now_ns()); });
}

Result<void> FileSystem::utimes(const Origin& origin, std::string_view path, Times times) {
  return change(origin, path, Follow::yes, [&](Inode& node) { return set_times(node, times, now_ns()); });
}

Result<void> FileSystem::lutimes(const Origin& origin, std::string_view path, Times times) {
  return change(origin, path, Follow::no, [&](Inode& node) { return set_times(node, times, now_ns()); });
}

Result<void> FileSystem::truncate(const Origin& origin, std::string_view path, std::int64_t size) {
  if (size < 0) return Errno{EINVAL};
  const std::lock_guard lock(mutex_);
  const auto node = find_node(origin, path, Follow::yes);
  if (!node.ok()) return node.failure();
  if ((*node)->is_directory()) return Errno{EISDIR};
  if (!(*node)->is_regular()) return Errno{EINVAL};
  if (const auto& host = (*node)->host) {
    if (auto may = host->mount->may_write(**node); !may.ok()) return may;
  }
  return truncate_node(**node, size, origin.writer);
}

Result<void> FileSystem::truncate_node(Inode& node, std::int64_t size, int writer, const Fd* host) {
  if (node.host) {
    if (size > max_host_file_size) return Errno{EFBIG};
    const auto keep = size == 0 ? Mount::Keep::nothing : Mount::Keep::contents;
    if (auto ready = node.host->mount->prepare_write(node, writer, keep, host, now_ns()); !ready.ok())
      return ready;
  }
  auto done = node.content().truncate(size);
  if (done.ok()) node.modified(now_ns());
  return done;
}

Result<void> FileSystem::copy_content(Inode& from, Inode& to, int writer) {
  if (to.host) {
    if (auto ready = to.host->mount->prepare_write(to, writer, Mount::Keep::nothing, nullptr, now_ns());
        !ready.ok())
      return ready;
  }
  to.modified(now_ns());
  if (!from.is_regular()) return to.content().truncate(0);
  if (!from.on_host()) return to.content().copy_from(from.content());
  auto opened = from.host->mount->open(from);
  if (!opened.ok()) return opened.failure();
  if (auto emptied = to.content().truncate(0); !emptied.ok()) return emptied;
  std::array<std::byte, 65536> buffer;
  for (std::int64_t at = 0;;) {
    const auto read = read_content(from, *opened, buffer, at);
    if (!read.ok()) return read.failure();
    if (*read == 0) return {};
    const auto written = to.content().write(std::span(buffer).first(*read), at);
    if (!written.ok()) return written.failure();
    if (*written < *read) return Errno{ENOSPC};
    at += static_cast<std::int64_t>(*read);
  }
}

Result<void> FileSystem::copy_file(const Origin& origin, std::string_view from, std::string_view to,
                                   Existing existing) {
  const std::lock_guard lock(mutex_);
  const auto source = find_node(origin, from, Follow::yes);
  if (!source.ok()) return source.failure();
  const auto target = find(origin, to, existing == Existing::refuse ? Follow::no : Follow::yes);
  if (!target.ok()) return target.failure();
  if ((*source)->is_directory() || target->trailing_slash) return Errno{EISDIR};
  if (target->node == nullptr) {
    const auto made = create_regular(*target, (*source)->mode & ~origin.umask, origin.writer);
    if (!made.ok()) return made.failure();
    if (auto set = set_mode(**made, (*source)->mode, now_ns()); !set.ok()) return set;
    auto copied = copy_content(**source, **made, origin.writer);
    if (!copied.ok()) take_back(*target, **made);
    return copied;
  }
  if (existing == Existing::refuse) return Errno{EEXIST};
  if (target->node == *source) return {};
  if (target->node->is_directory()) return Errno{EISDIR};
  if (!target->node->is_regular()) return {};
  if (const auto& host = target->node->host) {
    if (auto may = host->mount->may_write(*target->node); !may.ok()) return may;
  }
  if (auto set = set_mode(*target->node, (*source)->mode, now_ns()); !set.ok()) return set;
  return copy_content(**source, *target->node, origin.writer);
}

void FileSystem::take_back(const Found& found, Inode& made) {
  if (made.host) {
    (void)made.host->mount->remove(made);
  } else {
    detach(found.parent(), found.name);
  }
}

Result<void> FileSystem::write_file(const Origin& origin, std::string_view path, std::string_view contents,
                                    std::uint32_t mode) {
  const auto file = open(origin, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
  if (!file.ok()) return file.failure();
  std::span<const std::byte> left = std::as_bytes(std::span(contents));
  while (!left.empty()) {
    const auto done = (*file)->write(left);
    if (!done.ok()) return done.failure();
    left = left.subspan(*done);
  }
  return {};
}

}  // namespace tare::kernel
