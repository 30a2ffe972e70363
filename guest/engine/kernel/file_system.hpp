#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "engine/kernel/counters.hpp"
#include "engine/kernel/description.hpp"
#include "engine/kernel/limits.hpp"
#include "engine/kernel/permissions.hpp"
#include "engine/kernel/stat.hpp"
#include "engine/kernel/synced.hpp"

namespace tare::kernel {

class Inode;
class HostFolder;
class Mount;
enum class Follow;
struct Found;
struct Usage;

/// Who asks for a path: where relative paths start, which bits new files lose, and whether paths are allowed
/// at all. Process::origin() makes one; the default is the engine's own, which may do everything.
struct Origin {
  std::string_view cwd = "/";
  std::uint32_t umask = 022;
  Permission fs = Permission::allow;
  int writer = 0;  ///< the process, whose end brings what it writes into mounts back to the host
};

/// The writer of what is written through a descriptor of a process that has ended.
inline constexpr int nobody = -1;

/// What /usr/bin/node and /bin/sh stand for.
enum class Program { node, shell };

/// The files of one Vm, in memory: regular files, directories, symbolic links, /dev/null, /dev/zero,
/// /dev/urandom; and folders of the host, see Mount.
///
/// It starts with /bin/sh, /dev, /root, /tmp, /usr/bin/node and no /proc. The guest is root (uid 0), so mode
/// bits refuse only execution. Operations have the errnos of Linux, in its order of checks: ENAMETOOLONG
/// (names over 255 bytes, paths over 4,095), ELOOP (over 40 links), EINVAL for a NUL in a path, ENOSPC at
/// either limit. With Permission::deny every path but /dev/null is EACCES.
///
/// Thread-safe: one lock for the tree and the contents. Descriptions keep their FileSystem alive.
class FileSystem : public std::enable_shared_from_this<FileSystem> {
  struct Key {
    explicit Key() = default;
  };

 public:
  /// `clock` stamps the files and must outlive everything made here.
  static std::shared_ptr<FileSystem> create(const Limits& limits, const Clock& clock,
                                            std::shared_ptr<Counters> counters);
  /// Through create(), as descriptions share it.
  FileSystem(Key, const Limits& limits, const Clock& clock, std::shared_ptr<Counters> counters);
  ~FileSystem();
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  enum class MountAccess { read, write };
  /// Shows a folder of the host at an absolute path, which is made where it is missing. EBUSY for what is
  /// there and not an empty directory, ENOTSUP inside another mount, EINVAL for the root.
  Result<void> mount(std::string_view path, HostFolder folder, MountAccess access);
  /// A process begins, and has ended: then what it has written into mounts goes back to the host, and what
  /// was written through descriptors of processes that had ended before. Nothing when that is nothing.
  void begin_writer(int writer);
  std::optional<Synced> end_writer(int writer);
  /// All that has not gone back, whoever wrote it.
  Synced sync();
  bool has_mounts() const { return !mounts_.empty(); }

  /// `flags` of open(2): access mode, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY, O_NOFOLLOW; others are
  /// ignored. `mode` loses the umask.
  Result<std::shared_ptr<Description>> open(const Origin& origin, std::string_view path, int flags,
                                            std::uint32_t mode = 0666);

  Result<Stat> stat(const Origin& origin, std::string_view path) const;
  Result<Stat> lstat(const Origin& origin, std::string_view path) const;
  /// `mode` of R_OK, W_OK, X_OK, or F_OK.
  Result<void> access(const Origin& origin, std::string_view path, int mode) const;
  /// Absolute, without links, "." and "..".
  Result<std::string> realpath(const Origin& origin, std::string_view path) const;
  /// The same for what must be a directory (ENOTDIR): where a process may go to.
  Result<std::string> real_directory(const Origin& origin, std::string_view path) const;
  Result<std::string> readlink(const Origin& origin, std::string_view path) const;
  /// Sorted by name (bytes), without "." and "..".
  Result<std::vector<DirectoryEntry>> read_directory(const Origin& origin, std::string_view path) const;
  /// What a loader of modules wants to know of a path, in one look.
  enum class ModulePlace {
    directory,
    file,
    real_file  ///< and no link, "." or ".." is on the way
  };
  Result<ModulePlace> module_place(const Origin& origin, std::string_view path) const;
  /// The content of a real_file of a mount whose place has been asked for just now; nothing for others, and
  /// when it is not the same any more. The way to it is not looked at once more.
  std::optional<std::string> read_known(const Origin& origin, std::string_view path) const;
  FsStat statfs() const;
  /// The same with the errnos of a path.
  Result<FsStat> statfs(const Origin& origin, std::string_view path) const;

  Result<void> mkdir(const Origin& origin, std::string_view path, std::uint32_t mode = 0777);
  /// Makes a directory named `prefix` plus six letters and digits (mode 0700); the result is its path, as
  /// given.
  Result<std::string> mkdtemp(const Origin& origin, std::string_view prefix);
  Result<void> unlink(const Origin& origin, std::string_view path);
  Result<void> rmdir(const Origin& origin, std::string_view path);
  /// Removes a file or a directory with all that is in it; links are removed, not followed. ENOENT when it is
  /// not there. Other processes see the tree vanish at once.
  Result<void> remove_tree(const Origin& origin, std::string_view path);
  Result<void> rename(const Origin& origin, std::string_view from, std::string_view to);
  Result<void> link(const Origin& origin, std::string_view existing, std::string_view path);
  Result<void> symlink(const Origin& origin, std::string_view target, std::string_view path);
  Result<void> chmod(const Origin& origin, std::string_view path, std::uint32_t mode);
  Result<void> chown(const Origin& origin, std::string_view path, Owner owner);
  Result<void> lchown(const Origin& origin, std::string_view path, Owner owner);
  Result<void> utimes(const Origin& origin, std::string_view path, Times times);
  Result<void> lutimes(const Origin& origin, std::string_view path, Times times);
  Result<void> truncate(const Origin& origin, std::string_view path, std::int64_t size);

  enum class Existing { replace, refuse };
  /// Contents and mode, as uv_fs_copyfile. EEXIST with Existing::refuse; copying onto itself does nothing.
  Result<void> copy_file(const Origin& origin, std::string_view from, std::string_view to, Existing existing);

  /// The whole of a regular file, and its replacement; for the engine and for reading programs.
  Result<std::string> read_file(const Origin& origin, std::string_view path) const;
  Result<void> write_file(const Origin& origin, std::string_view path, std::string_view contents,
                          std::uint32_t mode = 0666);

  /// /dev/null for reading and writing, whatever a guest did to its /dev.
  std::shared_ptr<Description> open_null();

  /// What may be executed: ENOENT, EACCES (no execute bit, a directory), ENOTDIR and the other errnos of a
  /// path.
  struct Executable {
    std::optional<Program> program;  ///< set for the markers /usr/bin/node and /bin/sh, and links to them
    std::string first_line;          ///< otherwise its first 256 bytes, up to a line end
  };
  Result<Executable> executable(const Origin& origin, std::string_view path) const;

 private:
  friend class FileDescription;
  friend class InodeDescription;

  std::int64_t now_ns() const;
  void add_defaults();
  Result<void> allowed(const Origin& origin, std::string_view path) const;
  /// The place a path leads to; under the lock.
  Result<Found> find(const Origin& origin, std::string_view path, Follow follow) const;
  /// The same for what must exist.
  Result<Inode*> find_node(const Origin& origin, std::string_view path, Follow follow) const;
  template <class Change>
  Result<void> change(const Origin& origin, std::string_view path, Follow follow, Change change);
  Result<Inode*> find_directory(const Origin& origin, std::string_view path) const;

  /// The tree has a mount at or below the path, whose files are not to go with it.
  bool holds_mount(std::string_view path) const;
  /// The process on whose behalf a descriptor of `opener` writes now.
  int writer_of(int opener) const { return living_.contains(opener) ? opener : nobody; }
  void forget() const;
  void take_back(const Found& found, Inode& made);
  Result<std::string> read_whole(Inode& node, std::uint64_t most) const;
  /// `host`: as in Mount::prepare_write.
  Result<void> truncate_node(Inode& node, std::int64_t size, int writer, const Fd* host = nullptr);
  Result<void> copy_content(Inode& from, Inode& to, int writer);

  Result<std::shared_ptr<Inode>> make_inode(std::uint32_t mode);
  Result<void> check_room(std::uint64_t used) const;
  Result<Inode*> create_regular(const Found& found, std::uint32_t mode, int writer);
  Result<std::shared_ptr<Description>> describe(Inode& node, int flags, int writer);
  void attach(Inode& parent, std::string_view name, std::shared_ptr<Inode> node);
  void detach(Inode& parent, std::string_view name);
  void clear(Inode& directory);

  const Clock& clock_;
  const std::unique_ptr<Usage> usage_;
  mutable std::mutex mutex_;
  std::uint64_t next_number_ = 1;
  std::shared_ptr<Inode> root_;
  std::shared_ptr<Inode> null_;
  struct MountPoint {
    std::string path;
    std::unique_ptr<Mount> mount;
  };
  std::vector<MountPoint> mounts_;  ///< do not change once there are processes
  std::set<int> living_;            ///< processes that have not ended; kept only where there are mounts
};

}  // namespace tare::kernel
