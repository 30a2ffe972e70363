#pragma once

#include <memory>
#include <string>

#include "engine/kernel/description.hpp"
#include "engine/kernel/file_system.hpp"
#include "engine/kernel/inode.hpp"

namespace tare::kernel {

/// An open file, directory or device of a FileSystem; everything below happens under the lock of that.
class InodeDescription : public Description {
 public:
  InodeDescription(std::shared_ptr<FileSystem> files, std::shared_ptr<Inode> node, int flags)
      : Description(flags), files_(std::move(files)), node_(std::move(node)) {}

  Result<Stat> stat() const override;
  Result<void> sync() override { return {}; }
  Result<void> change_mode(std::uint32_t mode) override;
  Result<void> change_owner(Owner owner) override;
  Result<void> change_times(Times times) override;

 protected:
  // In this order: the inode gives what it held back to the file system.
  const std::shared_ptr<FileSystem> files_;
  const std::shared_ptr<Inode> node_;
};

class FileDescription final : public InodeDescription {
 public:
  /// `host` is the open file of one that is on the host and not in the shadow of its mount.
  FileDescription(std::shared_ptr<FileSystem> files, std::shared_ptr<Inode> node, int flags, Fd host,
                  int writer)
      : InodeDescription(std::move(files), std::move(node), flags), host_(std::move(host)), writer_(writer) {}

  Kind kind() const override { return Kind::file; }
  Result<std::size_t> read(std::span<std::byte> into) override;
  Result<std::size_t> write(std::span<const std::byte> bytes) override;
  Result<std::size_t> pread(std::span<std::byte> into, std::int64_t offset) override;
  Result<std::size_t> pwrite(std::span<const std::byte> bytes, std::int64_t offset) override;
  Result<std::int64_t> seek(std::int64_t offset, Whence whence) override;
  Result<void> truncate(std::int64_t size) override;

 private:
  Result<std::size_t> read_at(std::span<std::byte> into, std::int64_t offset);
  Result<std::size_t> write_at(std::span<const std::byte> bytes, std::optional<std::int64_t> offset);

  const Fd host_;
  const int writer_;  ///< who opened it
  std::int64_t position_ = 0;
};

class DirectoryDescription final : public InodeDescription {
 public:
  using InodeDescription::InodeDescription;

  Kind kind() const override { return Kind::directory; }
  Result<std::size_t> read(std::span<std::byte>) override;
  Result<std::size_t> pread(std::span<std::byte>, std::int64_t) override;
  Result<std::size_t> pwrite(std::span<const std::byte>, std::int64_t) override;
  Result<std::int64_t> seek(std::int64_t, Whence) override { return std::int64_t{0}; }
};

class DeviceDescription final : public InodeDescription {
 public:
  DeviceDescription(std::shared_ptr<FileSystem> files, std::shared_ptr<Inode> node, int flags);

  Kind kind() const override;
  Result<std::size_t> read(std::span<std::byte> into) override;
  Result<std::size_t> write(std::span<const std::byte> bytes) override;
  Result<std::size_t> pread(std::span<std::byte> into, std::int64_t offset) override;
  Result<std::size_t> pwrite(std::span<const std::byte> bytes, std::int64_t offset) override;
  Result<std::int64_t> seek(std::int64_t, Whence) override { return std::int64_t{0}; }
  Result<void> sync() override;

 private:
  const Device device_;
};

/// fchmod and the like, for an inode reached by path or by descriptor; under the lock.
Result<void> set_mode(Inode& node, std::uint32_t mode, std::int64_t now_ns);
Result<void> set_owner(Inode& node, Owner owner, std::int64_t now_ns);
Result<void> set_times(Inode& node, Times times, std::int64_t now_ns);

/// pread(2) of a regular file; `host` as in FileDescription.
Result<std::size_t> read_content(const Inode& node, const Fd& host, std::span<std::byte> into,
                                 std::int64_t offset);

/// Bytes of the host's random generator.
void fill_random(std::span<std::byte> into);

}  // namespace tare::kernel
