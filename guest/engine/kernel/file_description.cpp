#include "engine/kernel/file_description.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "engine/kernel/mount.hpp"

namespace tare::kernel {

Result<void> set_mode(Inode& node, std::uint32_t mode, std::int64_t now_ns) {
  if (node.host) return node.host->mount->set_mode(node, mode, now_ns);
  node.mode = node.type() | (mode & 07777);
  node.ctime_ns = now_ns;
  return {};
}
Result<void> set_owner(Inode& node, Owner owner, std::int64_t now_ns) {
  const std::uint32_t uid = owner.uid.value_or(node.uid);
  const std::uint32_t gid = owner.gid.value_or(node.gid);
  // The guest's root is an ordinary user of the host, who gives nothing away.
  if (node.host && (uid != node.uid || gid != node.gid)) return Errno{EPERM};
  node.uid = uid;
  node.gid = gid;
  if (!node.host) node.ctime_ns = now_ns;
  return {};
}
Result<void> set_times(Inode& node, Times times, std::int64_t now_ns) {
  if (node.host) return node.host->mount->set_times(node, times, now_ns);
  node.atime_ns = times.atime_ns.value_or(node.atime_ns);
  node.mtime_ns = times.mtime_ns.value_or(node.mtime_ns);
  node.ctime_ns = now_ns;
  return {};
}

Result<std::size_t> read_content(const Inode& node, const Fd& host, std::span<std::byte> into,
                                 std::int64_t offset) {
  if (!node.on_host()) return std::get<FileContent>(node.body).read(into, offset);
  for (;;) {
    const ssize_t size = ::pread(host.get(), into.data(), into.size(), offset);
    if (size >= 0) return static_cast<std::size_t>(size);
    if (errno != EINTR) return Errno{errno};
  }
}

void fill_random(std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t got = ::getrandom(into.data(), std::min<std::size_t>(into.size(), 256), 0);
    if (got > 0) into = into.subspan(static_cast<std::size_t>(got));
  }
}

Result<Stat> InodeDescription::stat() const {
  const std::lock_guard lock(files_->mutex_);
  return node_->stat();
}
Result<void> InodeDescription::change_mode(std::uint32_t mode) {
  const std::lock_guard lock(files_->mutex_);
  return set_mode(*node_, mode, files_->now_ns());
}
Result<void> InodeDescription::change_owner(Owner owner) {
  const std::lock_guard lock(files_->mutex_);
  return set_owner(*node_, owner, files_->now_ns());
}
Result<void> InodeDescription::change_times(Times times) {
  const std::lock_guard lock(files_->mutex_);
  return set_times(*node_, times, files_->now_ns());
}

Result<std::size_t> FileDescription::read_at(std::span<std::byte> into, std::int64_t offset) {
  const auto count = read_content(*node_, host_, into, offset);
  if (!count.ok()) return count;
  node_->accessed(files_->now_ns());
  if (const auto& counters = files_->usage_->counters) {
    counters->file_bytes_read.fetch_add(*count, std::memory_order_relaxed);
  }
  return count;
}

/// Without an offset, or with O_APPEND as Linux does it, at the position.
Result<std::size_t> FileDescription::write_at(std::span<const std::byte> bytes,
                                              std::optional<std::int64_t> offset) {
  if (node_->host) {
    const auto ready = node_->host->mount->prepare_write(*node_, files_->writer_of(writer_),
                                                         Mount::Keep::contents, &host_, files_->now_ns());
    if (!ready.ok()) return ready.failure();
  }
  const bool appends = (flags() & O_APPEND) != 0;
  const std::int64_t at = appends ? node_->content().size() : offset.value_or(position_);
  auto done = node_->content().write(bytes, at);
  if (!done.ok()) return done;
  if (!offset) position_ = at + static_cast<std::int64_t>(*done);
  if (*done == 0) return done;
  node_->modified(files_->now_ns());
  if (const auto& counters = files_->usage_->counters) {
    counters->file_bytes_written.fetch_add(*done, std::memory_order_relaxed);
  }
  return done;
}

Result<std::size_t> FileDescription::read(std::span<std::byte> into) {
  if (!may_read()) return Errno{EBADF};
  const std::lock_guard lock(files_->mutex_);
  const auto count = read_at(into, position_);
  if (count.ok()) position_ += static_cast<std::int64_t>(*count);
  return count;
}

Result<std::size_t> FileDescription::write(std::span<const std::byte> bytes) {
  if (!may_write()) return Errno{EBADF};
  const std::lock_guard lock(files_->mutex_);
  return write_at(bytes, std::nullopt);
}

Result<std::size_t> FileDescription::pread(std::span<std::byte> into, std::int64_t offset) {
  if (offset < 0) return Errno{EINVAL};
  if (!may_read()) return Errno{EBADF};
  const std::lock_guard lock(files_->mutex_);
  return read_at(into, offset);
}

Result<std::size_t> FileDescription::pwrite(std::span<const std::byte> bytes, std::int64_t offset) {
  if (offset < 0) return Errno{EINVAL};
  if (!may_write()) return Errno{EBADF};
  const std::lock_guard lock(files_->mutex_);
  return write_at(bytes, offset);
}

Result<std::int64_t> FileDescription::seek(std::int64_t offset, Whence whence) {
  const std::lock_guard lock(files_->mutex_);
  const std::int64_t base = whence == Whence::set ? 0 : whence == Whence::current ? position_ : node_->size();
  std::int64_t to = 0;
  if (__builtin_add_overflow(base, offset, &to) || to < 0 || to > max_file_size) return Errno{EINVAL};
  position_ = to;
  return to;
}

Result<void> FileDescription::truncate(std::int64_t size) {
  if (size < 0 || !may_write()) return Errno{EINVAL};
  const std::lock_guard lock(files_->mutex_);
  return files_->truncate_node(*node_, size, files_->writer_of(writer_), &host_);
}

Result<std::size_t> DirectoryDescription::read(std::span<std::byte>) {
  return Errno{EISDIR};
}
Result<std::size_t> DirectoryDescription::pread(std::span<std::byte>, std::int64_t) {
  return Errno{EISDIR};
}
Result<std::size_t> DirectoryDescription::pwrite(std::span<const std::byte>, std::int64_t) {
  return Errno{EBADF};
}

DeviceDescription::DeviceDescription(std::shared_ptr<FileSystem> files, std::shared_ptr<Inode> node,
                                     int flags)
    : InodeDescription(std::move(files), std::move(node), flags), device_(std::get<Device>(node_->body)) {}

Description::Kind DeviceDescription::kind() const {
  switch (device_) {
    case Device::null:
      return Kind::null;
    case Device::zero:
      return Kind::zero;
    case Device::random:
      break;
  }
  return Kind::random;
}

Result<std::size_t> DeviceDescription::read(std::span<std::byte> into) {
  if (!may_read()) return Errno{EBADF};
  if (device_ == Device::null) return std::size_t{0};
  if (device_ == Device::zero) {
    std::fill(into.begin(), into.end(), std::byte{0});
  } else {
    fill_random(into);
  }
  return into.size();
}

Result<std::size_t> DeviceDescription::write(std::span<const std::byte> bytes) {
  if (!may_write()) return Errno{EBADF};
  return bytes.size();
}
Result<std::size_t> DeviceDescription::pread(std::span<std::byte> into, std::int64_t offset) {
  if (offset < 0) return Errno{EINVAL};
  return read(into);
}
Result<std::size_t> DeviceDescription::pwrite(std::span<const std::byte> bytes, std::int64_t offset) {
  if (offset < 0) return Errno{EINVAL};
  return write(bytes);
}
Result<void> DeviceDescription::sync() {
  return Errno{EINVAL};
}

}  // namespace tare::kernel
