#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "engine/kernel/file_content.hpp"
#include "engine/kernel/file_system.hpp"
#include "engine/kernel/stat.hpp"

namespace tare::kernel {

enum class Device { null, zero, random };

/// A file of any type. Guarded by the lock of its file system.
class Inode : public std::enable_shared_from_this<Inode> {
 public:
  using Entries = std::map<std::string, std::shared_ptr<Inode>, std::less<>>;

  /// `mode` with its type. Counts against the limit, which the caller has checked.
  Inode(Usage& usage, std::uint64_t number, std::uint32_t mode, std::int64_t now_ns);
  ~Inode();
  Inode(const Inode&) = delete;
  Inode& operator=(const Inode&) = delete;

  std::uint32_t type() const { return mode & S_IFMT; }
  bool is_directory() const { return type() == S_IFDIR; }
  bool is_regular() const { return type() == S_IFREG; }
  bool is_symlink() const { return type() == S_IFLNK; }

  Entries& entries() { return std::get<Entries>(body); }
  FileContent& content() { return std::get<FileContent>(body); }
  const std::string& target() const { return std::get<std::string>(body); }
  /// Of a symbolic link, once; its bytes are charged.
  void set_target(std::string target);

  Stat stat() const;
  /// The contents changed, or the metadata.
  void modified(std::int64_t now_ns) { mtime_ns = ctime_ns = now_ns; }
  /// As Linux's relatime: only the first reading after a change is remembered.
  void accessed(std::int64_t now_ns) {
    if (atime_ns <= mtime_ns) atime_ns = now_ns;
  }

  const std::uint64_t number;
  std::uint32_t mode;
  std::uint32_t nlink = 0;  ///< names; a directory's "." and ".." are added by stat()
  std::uint32_t subdirectories = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int64_t atime_ns;
  std::int64_t mtime_ns;
  std::int64_t ctime_ns;
  const std::int64_t birthtime_ns;
  std::optional<Program> program;
  std::variant<std::monostate, FileContent, Entries, std::string, Device> body;

 private:
  Usage& usage_;
};

}  // namespace tare::kernel
