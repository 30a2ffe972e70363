#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "engine/kernel/file_content.hpp"
#include "engine/kernel/file_system.hpp"
#include "engine/kernel/host_folder.hpp"
#include "engine/kernel/stat.hpp"

namespace tare::kernel {

enum class Device { null, zero, random };

class Mount;

/// Where an inode of a mount is at home.
struct HostNode {
  Mount* mount;
  std::string path;                ///< beneath the mount's folder
  std::uint64_t device;            ///< of the mount, as guests see it
  std::optional<HostFacts> facts;  ///< as last seen; nothing: a new file that the host does not have yet
  bool in_shadow = false;          ///< its content is here, and not the host's
  bool dirty = false;              ///< the host does not have that content yet
  bool unlinked = false;           ///< no name leads to it any more
  bool has_own_mode = false;       ///< a guest has set it since the host's was seen

  bool is_root() const { return path.empty(); }
};

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
  /// Of a regular file.
  std::int64_t size() const;
  /// Whether its content is in a file of the host.
  bool on_host() const { return host != nullptr && !host->in_shadow; }
  /// What the host says of a file of a mount.
  void refresh(const HostFacts& facts);
  /// The contents changed, or the metadata.
  void modified(std::int64_t now_ns) { mtime_ns = ctime_ns = now_ns; }
  /// As Linux's relatime: only the first reading after a change is remembered. The host sees for itself.
  void accessed(std::int64_t now_ns) {
    if (!on_host() && atime_ns <= mtime_ns) atime_ns = now_ns;
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
  std::unique_ptr<HostNode> host;  ///< of a mount's files
  std::variant<std::monostate, FileContent, Entries, std::string, Device> body;

 private:
  void add_host_facts(Stat& stat) const;

  Usage& usage_;
};

}  // namespace tare::kernel
